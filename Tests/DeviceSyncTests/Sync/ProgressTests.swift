import Changesets
import Dispatch
import Foundation
import RealmState
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

@Suite(.hangGuard)
struct ProgressTests {
    private final class Estimates: Sendable {
        let values = Mutex<[Double]>([])
        var block: @Sendable (SyncSession.Progress) -> Void {
            { progress in self.values.withLock { $0.append(progress.progressEstimate) } }
        }
        var all: [Double] { values.withLock { $0 } }
    }

    @Test func outstandingUploadsRiseToOneAndThenThereIsSilence() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        for number in 0..<50 {
            try realm.write {
                realm.dynamicCreate("Task", value: ["_id": "\(number)", "title": String(repeating: "x", count: 5000)])
            }
        }
        let estimates = Estimates()
        let token = session.addProgressNotification(
            for: .upload, mode: .forCurrentlyOutstandingWork, block: estimates.block)
        expectTrue(token != nil)
        await expectTrue(eventually { estimates.all == [0] })
        session.resume()
        await expectTrue(eventually { estimates.all.last == 1 })
        let all = estimates.all
        expectEqual(all, all.sorted())
        expectEqual(all.count { $0 == 1 }, 1)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "more"]) }
        try await session.wait(for: .upload)
        expectEqual(estimates.all, all)
    }

    @Test func indefiniteProgressFallsWithNewWorkUntilItsTokenIsInvalidated() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        let estimates = Estimates()
        let token = session.addProgressNotification(for: .upload, mode: .reportIndefinitely, block: estimates.block)
        await expectTrue(eventually { estimates.all == [1] })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        await expectTrue(eventually { estimates.all == [1, 0, 1] })
        token?.invalidate()
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
        try await session.wait(for: .upload)
        expectEqual(estimates.all, [1, 0, 1])
    }

    @Test func outstandingDownloadsEndWhenTheServerHasNoMore() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        try server.edit { try $0.createObject(.init("Task", .string("theirs"))) }
        var seen: [Double] = []
        session.resume()
        for await progress in session.progress(for: .download, mode: .forCurrentlyOutstandingWork) {
            seen.append(progress.progressEstimate)
        }
        expectEqual(seen.last, 1)
        expectTrue(realm.dynamicObject(ofType: "Task", forPrimaryKey: "theirs") != nil)
    }

    @Test func theConnectionStateCanBeObservedByKeyPath() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        let changes = Mutex<[String]>([])
        let token = session.observe(\.connectionState, options: [.initial, .new, .old]) { observed, change in
            let text = { (state: SyncSession.ConnectionState?) in state.map { "\($0)" } ?? "-" }
            changes.withLock { $0.append("\(text(change.oldValue)) \(text(change.newValue))") }
            _ = observed
        }
        // The first call comes before `observe` returns.
        expectEqual(changes.withLock { $0.first }, "- connected")
        session.suspend()
        await expectTrue(eventually { changes.withLock { $0.last } == "connected disconnected" })
        token.invalidate()
        let count = changes.withLock { $0.count }
        session.resume()
        try await session.wait(for: .upload)
        expectEqual(changes.withLock { $0.count }, count)
    }
}
