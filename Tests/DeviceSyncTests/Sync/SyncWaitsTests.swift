import SyncModel
import SyncProtocol
import Synchronization
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
            ident: 1, partitionPath: "null", fileIdent: ClientFileIdent(ident: 5, salt: 6), progress: SyncProgress(),
            newestVersion: 1, lastMark: lastMark)
    }

    @Test mutating func downloadsEndWithTheMarkThatTheyAskedFor() {
        var session = session()
        waits.add(ends.wait("first", .download), version: 1)
        waits.askForMark(on: &session)
        // The mark that every session sends first, and that is not sent yet, serves.
        #expect(session.markTarget == 1)
        session.connected(fastReconnect: false)
        for _ in 0..<3 { _ = session.nextMessage { cursor, _ in .init(progress: cursor) } }
        waits.add(ends.wait("second", .download), version: 1)
        waits.askForMark(on: &session)
        #expect(session.markTarget == 2)
        waits.markReached(1)
        #expect(ends.all == ["first"])
        waits.markReached(2)
        #expect(ends.all == ["first", "second"])
    }

    @Test mutating func downloadsAskTheNextSessionAnew() {
        var first = session()
        waits.add(ends.wait("wait", .download), version: 1)
        waits.askForMark(on: &first)
        waits.sessionEnded(first)
        // What the first session had asked for is not what the next one answers.
        waits.markReached(1)
        #expect(ends.all.isEmpty)
        var second = session(lastMark: waits.lastMark)
        waits.askForMark(on: &second)
        waits.markReached(second.markTarget)
        #expect(ends.all == ["wait"])
    }

    @Test mutating func uploadsEndWithTheVersionOfTheCall() {
        waits.add(ends.wait("old", .upload), version: 3)
        waits.add(ends.wait("new", .upload), version: 4)
        #expect(waits.hasUploads)
        waits.finishUploads { $0 <= 3 }
        #expect(ends.all == ["old"])
        waits.finishUploads { $0 <= 4 }
        #expect(ends.all == ["old", "new"])
        #expect(!waits.hasUploads)
    }

    @Test mutating func connectionErrorsEndOnlyTheWaitsThatWantIt() {
        waits.add(ends.wait("patient", .download), version: 1)
        waits.add(ends.wait("hasty", .download, failsOnConnectionErrors: true), version: 1)
        waits.connectionFailed(Failure())
        #expect(ends.all == ["hasty: failed"])
        waits.fail(Failure())
        #expect(ends.all == ["hasty: failed", "patient: failed"])
    }

    @Test mutating func cancellingEndsOneWait() {
        let cancelled = ends.wait("cancelled", .upload)
        waits.add(cancelled, version: 1)
        waits.add(ends.wait("other", .upload), version: 1)
        waits.cancel(cancelled.id)
        #expect(ends.all == ["cancelled: CancellationError()"])
    }

    @Test func sessionsTakeTurnsAndStandInTheQueueOnce() {
        var queue = SendQueue()
        for ident in [2, 1, 2] as [SessionIdent] { queue.append(ident) }
        #expect(queue.next() == 2)
        queue.append(2)
        #expect([queue.next(), queue.next(), queue.next()] == [1, 2, nil])
        queue.append(3)
        queue.removeAll()
        #expect(queue.next() == nil)
        queue.append(3)
        #expect(queue.next() == 3)
    }
}
