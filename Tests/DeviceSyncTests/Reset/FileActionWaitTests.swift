import Changesets
import Dispatch
import Foundation
import RealmState
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// An app releases a realm and asks for its file action while something still holds the file.
@Suite(.hangGuard)
struct FileActionWaitTests {
    /// The app's one handle of a realm, and what it was told.
    final class Handle: Sendable {
        private let realm = Mutex<Realm?>(nil)
        private let error = Mutex<SyncError?>(nil)

        var session: SyncSession? { realm.withLock { $0?.syncSession } }
        var told: SyncError? { error.withLock { $0 } }
        func keep(_ realm: Realm) { self.realm.withLock { $0 = realm } }
        func tell(_ error: SyncError?) { self.error.withLock { $0 = error } }
        /// Another handle, as an object or a frozen realm is.
        func copy() -> Realm? { realm.withLock { $0?.freeze() } }
        func release() { realm.withLock { $0 = nil } }
    }

    /// A realm whose client reset waits for the app: one synced object "a", one unsynced object "b".
    struct Reset {
        let device: Device
        let handle = Handle()
        let session: SyncSession
        let url: URL
        let token: SyncError.ActionToken
        let backup: String

        /// - Parameter handler: runs in the app's error handler, once this is made.
        init(_ server: TestServer, handler: (@Sendable (Handle, SyncError.ActionToken) -> Void)? = nil) async throws {
            try await server.start()
            device = Device(server)
            let gate = DispatchSemaphore(value: 0)
            defer { gate.signal() }
            let handle = handle
            (session, url) = try await Self.open(device, handle) { error, _ in
                guard let error = error as? SyncError else { return }
                handle.tell(error)
                gate.wait()
                if let token = error.clientResetInfo()?.1 { handler?(handle, token) }
            }
            server.terminate()
            session.resume()
            await expectTrue(eventually { handle.told != nil })
            (backup, token) = try #require(handle.told?.clientResetInfo())
            let session = session
            await expectTrue(eventually { session.state == .inactive })
        }

        private static func open(
            _ device: Device, _ handle: Handle, _ handler: @escaping ErrorReportingBlock
        ) async throws -> (SyncSession, URL) {
            _ = try await device.login()
            let realm = try await Realm(configuration: device.configuration(.manual(errorHandler: handler)))
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
            let session = try #require(realm.syncSession)
            try await session.wait(for: .upload)
            session.suspend()
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "b"]) }
            handle.keep(realm)
            return (session, try #require(realm.configuration.fileURL))
        }

        func handleError() async { await onThread { [token] in SyncSession.immediatelyHandleError(token) } }

        func isWaiting() async -> Bool { await eventually { OpenFiles.isWatched(url) } }
        var isHandled: Bool {
            FileManager.default.fileExists(atPath: backup) && !FileManager.default.fileExists(atPath: url.path)
        }

        /// What an app does next: the realm is the server's copy, and its session works.
        func expectFreshRealm() async throws {
            expectTrue(isHandled)
            try expectTrue(device.app.core.store.fileActions().isEmpty)
            let again = try await Realm(configuration: device.configuration(.manual()), downloadBeforeOpen: .always)
            expectEqual(again.titles(), ["a": nil])
            try again.write { again.dynamicCreate("Task", value: ["_id": "c"]) }
            try await #require(again.syncSession).wait(for: .upload)
        }
    }

    @Test func handleThatIsReleasedAfterTheCallIsWaitedFor() async throws {
        let reset = try await Reset(TestServer())
        async let handled: Void = reset.handleError()
        await expectTrue(reset.isWaiting())
        expectTrue(!reset.isHandled)
        reset.handle.release()
        await handled
        try await reset.expectFreshRealm()
    }

    @Test func sessionThatEndsAfterTheCallIsWaitedFor() async throws {
        let reset = try await Reset(TestServer())
        let gate = DispatchSemaphore(value: 0)
        reset.session.connection.executor.queue.async { gate.wait() }
        reset.handle.release()
        async let handled: Void = reset.handleError()
        await expectTrue(reset.isWaiting())
        gate.signal()
        await handled
        try await reset.expectFreshRealm()
    }

    /// SQLite takes its time to close a file, after the session has been forgotten.
    @Test func fileThatIsStillBeingClosedIsWaitedFor() async throws {
        let reset = try await Reset(TestServer())
        let closing = Mutex<OpenFiles.Mark?>(try OpenFiles.Mark(reset.url))
        reset.handle.release()
        await expectTrue(eventually { reset.device.app.core.sync.allSessions.isEmpty })
        async let handled: Void = reset.handleError()
        await expectTrue(reset.isWaiting())
        closing.withLock { $0 = nil }
        await handled
        try await reset.expectFreshRealm()
    }

    /// The handler's queue is blocked while the connection has still to let the realm go.
    @Test func handlerMayReleaseTheRealmAndHandleTheErrorItself() async throws {
        let isDone = Mutex(false)
        let reset = try await Reset(TestServer()) { handle, token in
            let gate = DispatchSemaphore(value: 0)
            handle.session?.connection.executor.queue.async { gate.wait() }
            Thread.detachNewThread {
                while !OpenFiles.isWatched(URL(fileURLWithPath: token.originalPath)) { usleep(1000) }
                gate.signal()
            }
            handle.release()
            SyncSession.immediatelyHandleError(token)
            isDone.withLock { $0 = true }
        }
        await expectTrue(eventually { isDone.withLock { $0 } })
        try await reset.expectFreshRealm()
    }

    @Test func secondCallWaitsWithTheFirstAndSparesTheRealmThatIsOpenedNext() async throws {
        let reset = try await Reset(TestServer())
        async let first: Void = reset.handleError()
        async let second: Void = reset.handleError()
        await expectTrue(reset.isWaiting())
        reset.handle.release()
        await first
        await second
        expectTrue(reset.isHandled)
        let again = try await Realm(configuration: reset.device.configuration(.manual()), downloadBeforeOpen: .always)
        // Far more than the test has: there is nothing to wait for.
        let action = try #require(PendingFileAction(reset.token))
        try await onThread { try action.perform(within: .seconds(3600)) }
        expectEqual(again.titles(), ["a": nil])
        expectTrue(FileManager.default.fileExists(atPath: reset.url.path))
    }

    @Test func handlesThatAreNeverReleasedAreNamedAndTheActionStays() async throws {
        let reset = try await Reset(TestServer())
        let action = try #require(PendingFileAction(reset.token))
        func refusal(_ within: Duration = .milliseconds(20)) async throws -> String {
            let error = await #expect(throws: Realm.Error.self) {
                try await onThread { try action.perform(within: within) }
            }
            expectEqual(error?.code, .alreadyOpen)
            expectTrue(!reset.isHandled)
            try expectEqual(reset.device.app.core.store.fileActions().map(\.id), [reset.token.actionID])
            return error?.message ?? ""
        }
        var other = reset.handle.copy()
        try await expectTrue(refusal().contains("held by 2 realm handles"))
        expectEqual(other?.titles().count, 2)
        other = nil
        try await expectTrue(refusal().contains("held by one realm handle"))
        let gate = DispatchSemaphore(value: 0)
        reset.session.connection.executor.queue.async { gate.wait() }
        reset.handle.release()
        try await expectTrue(refusal().contains("held by its session"))
        gate.signal()
        // Another process.
        await expectTrue(eventually { !RealmFileSet(main: reset.url).isOpen })
        var lock: FileLock? = try FileLock(OpenFiles.canonical(reset.url), code: .incompatibleLockFile)
        let error = await #expect(throws: Realm.Error.self) {
            try await onThread { try action.perform(within: .seconds(3600)) }
        }
        expectEqual(error?.code, .incompatibleLockFile)
        _ = lock
        lock = nil
        try await action.perform(within: .seconds(60))
        try await reset.expectFreshRealm()
    }

    @Test func taskThatHandlesTheErrorIsSuspendedAndCanBeCancelled() async throws {
        let reset = try await Reset(TestServer())
        let cancelled = Task { [token = reset.token] in try await SyncSession.performFileAction(token) }
        await expectTrue(reset.isWaiting())
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        await expectTrue(eventually { !OpenFiles.isWatched(reset.url) })
        async let handled: Void = SyncSession.performFileAction(reset.token)
        await expectTrue(reset.isWaiting())
        reset.handle.release()
        try await handled
        try await reset.expectFreshRealm()
    }
}

/// File actions of a realm that goes on syncing, as one that was recovered in the meantime.
@Suite(.hangGuard)
struct FileActionOfLiveRealmTests {
    private func action(for realm: Realm, _ app: App) throws -> PendingFileAction {
        let url = try #require(realm.configuration.fileURL)
        let action = FileAction(
            id: UUID().uuidString, kind: .delete, originalPath: url.path, backupPath: nil, userID: "user", attempt: nil,
            file: realm.instance.core.sync.identity)
        try app.core.store.addFileAction(action)
        return PendingFileAction(app: app.core, id: action.id, path: url.path)
    }

    private func open(_ device: Device, _ mode: ClientResetMode = .manual()) async throws -> Realm {
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(mode), downloadBeforeOpen: .always)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
        try await #require(realm.syncSession).wait(for: .upload)
        return realm
    }

    /// The realm's session has got a DOWNLOAD that it cannot commit yet. Releases the realm by returning.
    private func whileIntegrating(_ device: Device) async throws -> (PendingFileAction, URL, WriteLock) {
        let realm = try await open(device)
        let lock = realm.instance.core.lock
        lock.lock()
        let connection = try #require(realm.syncSession).connection
        try device.server.edit { try $0.createObject(.init("Task", .string("c"))) }
        // The connection does not answer while it is at the DOWNLOAD.
        await expectTrue(
            eventually {
                let answered = DispatchSemaphore(value: 0)
                connection.perform { _ in answered.signal() }
                return answered.wait(timeout: .now() + 0.2) == .timedOut
            })
        return (try action(for: realm, device.app), try #require(realm.configuration.fileURL), lock)
    }

    @Test func downloadThatIsBeingIntegratedIsWaitedFor() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let (action, url, lock) = try await whileIntegrating(device)
        async let handled: Void = onThread { try action.perform(within: .seconds(60)) }
        await expectTrue(eventually { OpenFiles.isWatched(url) })
        lock.unlock()
        try await handled
        expectTrue(!FileManager.default.fileExists(atPath: url.path))
        let again = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
        expectEqual(again.titles(), ["a": nil, "c": nil])
    }

    /// A session that has only to say goodbye does not hold the realm.
    @Test func fileIsClosedWhileTheServerHasNotAnsweredUnbind() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        server.holdsUnbound = true
        let (action, url) = try await prepared(device)
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        try await action.perform(within: .seconds(60))
        expectTrue(!FileManager.default.fileExists(atPath: url.path))
        let again = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
        expectEqual(again.titles(), ["a": nil])
        expectEqual(server.connectionCount, 1)
    }

    /// Releases the realm by returning.
    private func prepared(_ device: Device) async throws -> (PendingFileAction, URL) {
        let realm = try await open(device)
        return (try action(for: realm, device.app), try #require(realm.configuration.fileURL))
    }

    /// The reset block's own stack holds what it would wait for.
    @Test func resetBlockIsToldAtOnceThatItHoldsTheRealm() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let pending = Mutex<PendingFileAction?>(nil)
        let message = Mutex("")
        let realm = try await open(
            device,
            .recoverUnsyncedChanges(beforeReset: { _ in
                do {
                    // Far more than the test has.
                    try pending.withLock { $0 }?.perform(within: .seconds(3600))
                } catch {
                    message.withLock { $0 = "\(error)" }
                }
            }))
        let action = try action(for: realm, device.app)
        pending.withLock { $0 = action }
        server.terminate()
        await expectTrue(eventually { message.withLock { $0.contains("held by the client reset block") } })
    }
}
