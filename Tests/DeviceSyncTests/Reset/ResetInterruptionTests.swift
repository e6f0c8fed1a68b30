import Changesets
import Foundation
import RealmState
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// A disk that fails in a client reset says nothing about whether the changes can be replayed.
@Suite(.hangGuard)
struct ResetInterruptionTests {
    private func offline(_ device: Device, _ mode: ClientResetMode) async throws -> Realm {
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(mode))
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "old"]) }
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        // The last of what the session says; it is inactive before that has arrived.
        await expectTrue(eventually { device.server.messages.last?.name == "unbind" })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b", "title": "offline"]) }
        return realm
    }

    /// A disk with room for what a discarding merge writes and not for what a recovering one does.
    @Test(arguments: [ResetMode.recover, .recoverOrDiscard])
    func changesThatCannotBeStoredNowAreNotDiscarded(mode: ResetMode) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = ClientResetTests.Calls()
        let realm = try await offline(
            device,
            mode == .recover
                ? .recoverUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after)
                : .recoverOrDiscardUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after))
        let session = try #require(realm.syncSession)
        try RealmFileEdits.run(
            """
            CREATE TRIGGER full BEFORE INSERT ON history WHEN length(NEW.changeset) > 0
            BEGIN SELECT RAISE(ABORT, 'no room'); END
            """, on: realm)
        server.terminate()
        session.resume()
        // More often than a process may die in a merge.
        for _ in 0...ResetDecision.maxCutOff {
            server.forgetMessages()
            session.reconnect()
            await expectTrue(eventually { server.messages.contains { $0.name == "unbind" } })
        }
        await expectTrue(eventually { device.clientErrors.contains { $0.message.contains("no room") } })
        expectEqual(realm.titles(), ["a": "old", "b": "offline"])
        await expectTrue(eventually { (try? realm.instance.core.file.pendingReset()) == .some(nil) })
        expectEqual(session.state, .active)
        try RealmFileEdits.run("DROP TRIGGER full", on: realm)
        try await session.wait(for: .upload)
        expectEqual(realm.titles(), ["a": "old", "b": "offline"])
        expectEqual(server.taskCount, 2)
        expectEqual(calls.counts, [1, 1])
        expectTrue(device.clientErrors.allSatisfy { $0.code == .clientInternalError && !$0.isFatal })
        try expectTrue(device.app.core.store.fileActions().isEmpty)
    }

    /// Nothing can be stored from the record of a merge on, not even that the merge has ended.
    @Test func aMergeThatHasEndedIsNotTakenForTheDeathOfItsProcess() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, .recoverUnsyncedChanges())
        let session = try #require(realm.syncSession)
        let file = realm.instance.core.file
        try RealmFileEdits.run(
            """
            CREATE TRIGGER full BEFORE INSERT ON meta WHEN EXISTS(SELECT 1 FROM client_reset_metadata)
            BEGIN SELECT RAISE(ABORT, 'no room'); END
            """, on: realm)
        server.terminate()
        session.resume()
        await expectTrue(eventually { device.clientErrors.contains { $0.message.contains("no room") } })
        // No further merge; what the session had still to receive when its connection ended could have led to one.
        server.refusesConnections = true
        await expectTrue(
            eventually {
                server.dropConnections()
                return server.connectionCount == 0 && session.connectionState == .disconnected
            })
        try expectEqual(file.pendingReset()?.cutOff, 1)
        try RealmFileEdits.run("DROP TRIGGER full", on: realm)
        session.suspend()
        await expectTrue(eventually { (try? file.pendingReset()) == .some(nil) })
    }

    /// The queue of reports is in the metadata file.
    @Test func aReportThatCannotBeQueuedIsKeptForTheNextStart() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, .recoverUnsyncedChanges())
        let session = try #require(realm.syncSession)
        let metadata = device.app.core.layout.metadataFile.path
        try RealmFileEdits.run("ALTER TABLE outcomes RENAME TO hidden", at: metadata)
        server.terminate()
        session.resume()
        try await session.wait(for: .upload)
        expectEqual(realm.titles(), ["a": "old", "b": "offline"])
        try RealmFileEdits.run("ALTER TABLE hidden RENAME TO outcomes", at: metadata)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        session.resume()
        await expectTrue(eventually { server.outcomes.contains { $0.contains("recovered") } })
    }

    /// The fresh copy that was complete is dead by then, and so is whatever would be merged with its identity.
    @Test func aMergeThatIsTriedAgainAfterAnotherTerminationDiscardsNothing() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, .recoverOrDiscardUnsyncedChanges())
        let session = try #require(realm.syncSession)
        try RealmFileEdits.run(
            """
            CREATE TRIGGER full BEFORE INSERT ON history WHEN length(NEW.changeset) > 0
            BEGIN SELECT RAISE(ABORT, 'no room'); END
            """, on: realm)
        server.terminate()
        session.resume()
        await expectTrue(eventually { device.clientErrors.contains { $0.message.contains("no room") } })
        // Whatever is tried next, it begins after all of this. What was received by then could lead to a merge as well.
        server.refusesConnections = true
        await expectTrue(
            eventually {
                server.dropConnections()
                return server.connectionCount == 0 && session.connectionState == .disconnected
            })
        server.terminate()
        try RealmFileEdits.run("DROP TRIGGER full", on: realm)
        server.refusesConnections = false
        session.reconnect()
        try await session.wait(for: .upload)
        expectEqual(realm.titles(), ["a": "old", "b": "offline"])
        expectEqual(server.taskCount, 2)
        expectTrue(device.clientErrors.allSatisfy { $0.code == .clientInternalError && !$0.isFatal })
    }

    /// The connection ends when the fresh copy is complete, before the BIND that the merge follows.
    @Test func aFreshCopyThatIsMergedOnTheNextConnectionIsBroughtUpToDate() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let connector = FillingConnector()
        device.app.core.sync.setConnector(connector)
        let realm = try await offline(device, .recoverOrDiscardUnsyncedChanges())
        let session = try #require(realm.syncSession)
        connector.arm()
        server.terminate()
        session.resume()
        await expectTrue(eventually { connector.hasFilled })
        server.refusesConnections = true
        await expectTrue(
            eventually {
                server.dropConnections()
                return server.connectionCount == 0 && session.connectionState == .disconnected
            })
        server.terminate()
        server.refusesConnections = false
        session.reconnect()
        try await session.wait(for: .upload)
        expectEqual(realm.titles(), ["a": "old", "b": "offline"])
        expectEqual(server.taskCount, 2)
        expectTrue(device.clientErrors.isEmpty)
    }

    /// Not its realm: the copy can be downloaded again.
    @Test func aFreshCopyThatIsDamagedWhileItIsDownloadedIsReplaced() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, .recoverUnsyncedChanges())
        let session = try #require(realm.syncSession)
        let fresh = (realm.configuration.fileURL?.path ?? "") + ".fresh"
        server.forgetMessages()
        server.holdsMarks = true
        server.terminate()
        session.resume()
        // The marks are of the realm's own session, then of the one that has stored the fresh copy's identity.
        await expectTrue(eventually { server.messages.filter { $0.name == "mark" }.count >= 2 })
        try RealmFileEdits.run(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = 'CREATE TABLE history(' WHERE name = 'history';
            PRAGMA schema_version = 1000
            """, at: fresh)
        try server.edit { try $0.createObject(.init("Task", .string("c"))) }
        await expectTrue(eventually { device.clientErrors.contains { $0.message.contains("malformed") } })
        // The damaged copy's mark must not be answered any more.
        server.dropConnections()
        server.holdsMarks = false
        session.reconnect()
        try await session.wait(for: .upload)
        expectEqual(realm.titles(), ["a": "old", "b": "offline", "c": nil])
        expectEqual(server.taskCount, 3)
        expectTrue(device.clientErrors.allSatisfy { $0.code == .clientInternalError && !$0.isFatal })
    }
}
