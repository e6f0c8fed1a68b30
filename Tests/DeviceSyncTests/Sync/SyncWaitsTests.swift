import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// What ends the waits of an app.
struct SyncWaitsTests {
    /// The ends of waits, in their order.
    private final class Ends: Sendable {
        private let contents = Mutex<[String]>([])
        var all: [String] { contents.withLock { $0 } }

        func wait(
            _ name: String, _ direction: SyncSession.ProgressDirection, failsOnConnectionErrors: Bool = false
        ) -> SyncWait {
            SyncWait(direction: direction, failsOnConnectionErrors: failsOnConnectionErrors) { error in
                self.contents.withLock { $0.append(error.map { "\(name): \($0)" } ?? name) }
            }
        }
    }
    private struct Failure: Error, CustomStringConvertible { let description = "failed" }

    private let ends = Ends()
    private var waits = SyncWaits()

    private func session(lastMark: RequestIdent = 0) -> ClientSession {
        ClientSession(
            ident: 1, target: "null", fileIdent: ClientFileIdent(ident: 5, salt: 6),
            progress: SyncProgress(),
            newestVersion: 1, lastMark: lastMark)
    }

    @Test mutating func downloadsEndWithTheMarkThatTheyAskedFor() {
        var session = session()
        waits.add(ends.wait("first", .download), version: 1)
        waits.askForMark(on: &session)
        // The mark that every session sends first, and that is not sent yet, serves.
        expectEqual(session.markTarget, 1)
        session.connected(fastReconnect: false)
        for _ in 0..<3 { _ = session.nextMessage { cursor, _ in .init(progress: cursor) } }
        waits.add(ends.wait("second", .download), version: 1)
        waits.askForMark(on: &session)
        expectEqual(session.markTarget, 2)
        waits.markReached(1)
        expectEqual(ends.all, ["first"])
        waits.markReached(2)
        expectEqual(ends.all, ["first", "second"])
    }

    @Test mutating func downloadsAskTheNextSessionAnew() {
        var first = session()
        waits.add(ends.wait("wait", .download), version: 1)
        waits.askForMark(on: &first)
        waits.sessionEnded(first)
        // What the first session had asked for is not what the next one answers.
        waits.markReached(1)
        expectTrue(ends.all.isEmpty)
        var second = session(lastMark: waits.lastMark)
        waits.askForMark(on: &second)
        waits.markReached(second.markTarget)
        expectEqual(ends.all, ["wait"])
    }

    @Test mutating func uploadsEndWithTheVersionOfTheCall() {
        waits.add(ends.wait("old", .upload), version: 3)
        waits.add(ends.wait("new", .upload), version: 4)
        expectTrue(waits.hasUploads)
        waits.finishUploads { $0 <= 3 }
        expectEqual(ends.all, ["old"])
        waits.finishUploads { $0 <= 4 }
        expectEqual(ends.all, ["old", "new"])
        expectTrue(!waits.hasUploads)
    }

    @Test mutating func connectionErrorsEndOnlyTheWaitsThatWantIt() {
        waits.add(ends.wait("patient", .download), version: 1)
        waits.add(ends.wait("hasty", .download, failsOnConnectionErrors: true), version: 1)
        waits.connectionFailed(Failure())
        expectEqual(ends.all, ["hasty: failed"])
        waits.fail(Failure())
        expectEqual(ends.all, ["hasty: failed", "patient: failed"])
    }

    @Test mutating func cancellingEndsOneWait() {
        let cancelled = ends.wait("cancelled", .upload)
        waits.add(cancelled, version: 1)
        waits.add(ends.wait("other", .upload), version: 1)
        waits.cancel(cancelled.id)
        expectEqual(ends.all, ["cancelled: CancellationError()"])
    }

    @Test func sessionsTakeTurnsAndStandInTheQueueOnce() {
        var queue = SendQueue()
        for ident in [2, 1, 2] as [SessionIdent] { queue.append(ident) }
        expectEqual(queue.next(), 2)
        queue.append(2)
        expectEqual([queue.next(), queue.next(), queue.next()], [1, 2, nil])
        queue.append(3)
        queue.removeAll()
        expectTrue(queue.next() == nil)
        queue.append(3)
        expectEqual(queue.next(), 3)
    }

    // MARK: Subscriptions

    private func wait(
        _ name: String, for version: QueryVersion, failsOnConnectionErrors: Bool = false
    ) -> SubscriptionWait {
        let end = ends.wait(name, .download).completion
        return SubscriptionWait(version: version, failsOnConnectionErrors: failsOnConnectionErrors, completion: end)
    }

    @Test mutating func updatesEndWithTheirSet() {
        var sets = SubscriptionSets()
        for _ in 1...3 { _ = sets.append([], snapshot: 1) }
        for version in 1...3 { waits.add(wait("\(version)", for: QueryVersion(UInt64(version))), sets) }
        expectTrue(ends.all.isEmpty)
        sets.bootstrapped(2)
        waits.settle(with: sets)
        // An update that was overtaken has nothing to wait for.
        expectEqual(ends.all, ["1"])
        sets.markReached()
        sets.refused(3, "no such field")
        waits.settle(with: sets)
        expectEqual(ends.all, ["1", "2", "3: subscriptionFailed: no such field"])
        waits.add(wait("late", for: 2), sets)
        expectEqual(ends.all.last, "late")
        waits.fail(Failure())
        expectEqual(ends.all.count, 4)
    }

    @Test mutating func updatesFailWithTheirSession() {
        var sets = SubscriptionSets()
        _ = sets.append([], snapshot: 1)
        waits.add(wait("patient", for: 1), sets)
        waits.add(wait("impatient", for: 1, failsOnConnectionErrors: true), sets)
        let cancelled = wait("cancelled", for: 1)
        waits.add(cancelled, sets)
        waits.connectionFailed(Failure())
        expectEqual(ends.all, ["impatient: failed"])
        waits.cancel(cancelled.id)
        waits.fail(Failure())
        expectEqual(ends.all, ["impatient: failed", "cancelled: CancellationError()", "patient: failed"])
    }
}
