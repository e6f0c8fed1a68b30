import Changesets
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Whole resets over a real socket.
@Suite(.hangGuard)
struct ClientResetTests {
    /// How often the blocks ran, and what they saw.
    final class Calls: Sendable {
        struct Contents {
            var before: [[String: String?]] = []
            var after: [[String: String?]] = []
        }
        let contents = Mutex(Contents())
        var counts: [Int] { contents.withLock { [$0.before.count, $0.after.count] } }
        var before: ClientResetBeforeBlock {
            { realm in self.contents.withLock { $0.before.append(realm.titles()) } }
        }
        var after: ClientResetAfterBlock {
            { _, realm in self.contents.withLock { $0.after.append(realm.titles()) } }
        }
    }

    /// A realm with one synced object "a", an unsynced edit of it and an unsynced object "b"; not connected.
    private func offline(_ device: Device, _ server: TestServer, _ mode: ClientResetMode) async throws -> Realm {
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(mode))
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": "old"]) }
        let session = try #require(realm.syncSession)
        try await session.wait(for: .upload)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        try realm.write { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a")?["title"] = "client" }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "b", "title": "offline"]) }
        // The last of what the session says. An UPLOAD of progress alone may have been on its way before it.
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
        server.forgetMessages()
        return realm
    }

    private func outcome(_ server: TestServer, _ result: String) async -> [String: JSONValue]? {
        var found: [String: JSONValue]?
        _ = await eventually {
            found = server.outcomes.compactMap { (try? JSONParser.parse($0))?.objectValue }
                .first { $0["result"]?.stringValue == result }
            return found != nil
        }
        return found
    }

    @Test func recoveryKeepsUnsyncedChangesAndUploadsThem() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = Calls()
        let realm = try await offline(
            device, server, .recoverUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after))
        try server.edit { try $0.createObject(.init("Task", .string("c"))) }
        server.terminate()
        let session = try #require(realm.syncSession)
        session.resume()
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        expectEqual(realm.titles(), ["a": "client", "b": "offline", "c": nil])
        expectEqual(server.taskCount, 3)
        expectEqual(calls.counts, [1, 1])
        expectEqual(calls.contents.withLock { $0.before }, [["a": "client", "b": "offline"]])
        expectTrue(device.clientErrors.isEmpty)
        await expectTrue(eventually { (try? realm.instance.core.file.pendingReset()) == .some(nil) })
        expectTrue(!FileManager.default.fileExists(atPath: (realm.configuration.fileURL?.path ?? "") + ".fresh"))

        let report = try #require(await outcome(server, "recovered"))
        expectEqual(report["modeUsed"]?.stringValue, "recover")
        expectEqual(report["changesets"]?.objectValue?["recovered"]?.integerValue, 2)
        expectTrue(report["identOld"]?.integerValue != report["identNew"]?.integerValue)
        expectEqual(report["realm"]?.objectValue?["partition"]?.stringValue, "\"p\"")
    }

    @Test func theWireShowsFreshCopyThenBindWithTheNewIdent() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, server, .recoverUnsyncedChanges())
        server.terminate()
        realm.syncSession?.resume()
        try await #require(realm.syncSession).wait(for: .upload)
        let names = server.messages.filter { $0.name != "mark" }.map(\.name)
        expectTrue(
            names.starts(with: ["bind", "ident", "unbind", "bind", "ident", "unbind", "bind", "ident", "upload"]))
        let binds = server.messages.compactMap { if case .bind(let bind) = $0 { bind } else { nil } }
        expectEqual(binds.map(\.needsIdent), [false, true, false])
        let idents = server.messages.compactMap { if case .ident(let ident) = $0 { ident } else { nil } }
        expectEqual(idents.count, 3)
        expectEqual(idents[1].file, idents[2].file)
        expectEqual(idents[2].download.clientVersion, 0)
        expectEqual(idents[2].download.serverVersion, idents[2].latest.version)
    }

    @Test func discardingDropsThem() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = Calls()
        let realm = try await offline(
            device, server, .discardUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after))
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { realm.titles() == ["a": "old"] })
        try await #require(realm.syncSession).wait(for: .download)
        expectTrue(!server.messages.contains { $0.name == "upload" })
        expectEqual(calls.counts, [1, 1])
        let report = try #require(await outcome(server, "discarded"))
        expectEqual(report["changesets"]?.objectValue?["discarded"]?.integerValue, 2)
    }

    @Test func recoverOrDiscardDiscardsWhereRecoveryIsForbidden() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, server, .recoverOrDiscardUnsyncedChanges())
        server.terminate(action: .clientResetNoRecovery)
        realm.syncSession?.resume()
        await expectTrue(eventually { realm.titles() == ["a": "old"] })
        expectTrue(device.clientErrors.isEmpty)
        let report = try #require(await outcome(server, "discarded"))
        expectEqual(report["modeRequested"]?.stringValue, "recoverOrDiscard")
    }

    @Test func recoverOrDiscardDiscardsInTheSameResetWhereTheReplayFails() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = Calls()
        let realm = try await offline(
            device, server, .recoverOrDiscardUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after))
        // What a failing disk has left of the last write is no changeset.
        try RealmFileEdits.run(
            "UPDATE history SET changeset = X'FF' WHERE version = (SELECT max(version) FROM history)", on: realm)
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { calls.counts == [1, 1] })
        expectEqual(calls.contents.withLock { $0.before }, [["a": "client", "b": "offline"]])
        expectTrue(realm.titles() == ["a": "old"] && device.clientErrors.isEmpty)
        let report = try #require(await outcome(server, "discarded"))
        expectEqual(report["modeRequested"]?.stringValue, "recoverOrDiscard")
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "c"]) }
        try await #require(realm.syncSession).wait(for: .upload)
        expectEqual(server.taskCount, 2)
    }

    @Test func recoveryThatIsForbiddenIsLeftToTheApp() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, server, .recoverUnsyncedChanges())
        server.terminate(action: .clientResetNoRecovery)
        realm.syncSession?.resume()
        await expectTrue(eventually { device.clientErrors.contains { $0.code == .clientResetError } })
        expectEqual(realm.titles(), ["a": "client", "b": "offline"])
        let report = try #require(await outcome(server, "manualPending"))
        expectEqual(report["error"]?.objectValue?["name"]?.stringValue, "AutoClientResetFailed")
        expectEqual(report["backupFile"]?.stringValue?.hasPrefix("recovered_realm-"), true)
    }

    @Test(arguments: [ResetMode.recover, .discard, .recoverOrDiscard])
    func aBreakingSchemaIsLeftToTheAppInEveryMode(mode: ResetMode) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = Calls()
        let modes: [ResetMode: ClientResetMode] = [
            .recover: .recoverUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after),
            .discard: .discardUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after),
            .recoverOrDiscard: .recoverOrDiscardUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after),
        ]
        let realm = try await offline(device, server, try #require(modes[mode]))
        try server.replaceState { transaction in
            try transaction.createTable("Task", key: KeySchema(name: "_id", type: .string, nullable: false))
            try transaction.addColumn("Task", "title", ElementType(type: .int, nullable: true))
        }
        server.terminate()
        let session = try #require(realm.syncSession)
        session.resume()
        await expectTrue(eventually { device.clientErrors.contains { $0.code == .clientResetError } })
        expectEqual(calls.counts, [1, 0])
        // The error is told on a queue of its own, perhaps before the session has stopped.
        await expectTrue(eventually { session.state == .inactive })
        expectEqual(realm.titles(), ["a": "client", "b": "offline"])
        await expectTrue(eventually { server.messages.last?.name == "unbind" })
    }

    @Test func theAppHandlesAManualResetAtOnce() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let (path, token, fileURL) = try await manual(device, server)
        device.errors.withLock { $0 = [] }
        expectTrue(!FileManager.default.fileExists(atPath: path))
        SyncSession.immediatelyHandleError(token)
        expectTrue(FileManager.default.fileExists(atPath: path))
        expectTrue(!FileManager.default.fileExists(atPath: fileURL.path))
        SyncSession.immediatelyHandleError(token)

        var backup = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
        backup.readOnly = true
        try expectEqual(backedUpTitles(backup), ["a": "client", "b": "offline"])
        let again = try await Realm(configuration: device.configuration(.manual()), downloadBeforeOpen: .always)
        expectEqual(again.titles(), ["a": "old"])
        await expectTrue(outcome(server, "manualHandled") != nil)
    }

    private func backedUpTitles(_ configuration: Realm.Configuration) throws -> [String: String?] {
        try Realm(configuration: configuration).titles()
    }

    /// Releases the realm by returning.
    private func manual(_ device: Device, _ server: TestServer) async throws -> (String, SyncError.ActionToken, URL) {
        let realm = try await offline(device, server, .manual())
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { !device.clientErrors.isEmpty })
        let (path, token) = try #require(device.clientErrors.first?.clientResetInfo())
        return (path, token, try #require(realm.configuration.fileURL))
    }

    @Test func theModesOwnHandlerComesFirst() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let own = Mutex(0)
        let realm = try await offline(device, server, .manual(errorHandler: { _, _ in own.withLock { $0 += 1 } }))
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { own.withLock { $0 } == 1 })
        expectTrue(device.clientErrors.isEmpty)
    }

    @Test func unhandledResetIsDoneAtTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let (path, _, fileURL) = try await manual(device, server)
        device.errors.withLock { $0 = [] }
        await expectTrue(eventually { !RealmFileSet(main: fileURL).isOpen })
        device.relaunch()
        expectTrue(FileManager.default.fileExists(atPath: path))
        let realm = try await Realm(configuration: device.configuration(.manual()), downloadBeforeOpen: .always)
        expectEqual(realm.titles(), ["a": "old"])
        await expectTrue(outcome(server, "manualAtLaunch") != nil)
    }

    @Test func aResetThatWasInterruptedWhileDownloadingIsFinishedAtTheNextLaunch() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        try await interrupted(device, server)
        device.relaunch()
        server.holdsMarks = false
        let calls = Calls()
        let realm = try await Realm(
            configuration: device.configuration(
                .recoverUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after)))
        try await #require(realm.syncSession).wait(for: .upload)
        expectEqual(realm.titles(), ["a": "client", "b": "offline"])
        expectEqual(server.taskCount, 2)
        expectEqual(calls.counts, [1, 1])
        // The attempt that was cut off is reported, and then the one that took its place.
        let cut = try #require(await outcome(server, "interrupted"))
        let done = try #require(await outcome(server, "recovered"))
        expectTrue(cut["attempt"] != done["attempt"])
        expectEqual(cut["identOld"], done["identOld"])
        expectTrue(cut["modeUsed"] == nil)
    }

    private func interrupted(_ device: Device, _ server: TestServer) async throws {
        let realm = try await offline(device, server, .recoverUnsyncedChanges())
        let fresh = (realm.configuration.fileURL?.path ?? "") + ".fresh"
        server.holdsMarks = true
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { FileManager.default.fileExists(atPath: fresh) })
        await expectTrue(eventually { server.messages.filter { $0.name == "mark" }.count >= 2 })
    }

    @Test func garbageInPlaceOfTheFreshCopyIsReplaced() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let realm = try await offline(device, server, .recoverUnsyncedChanges())
        try Data("no database".utf8).write(
            to: URL(fileURLWithPath: (realm.configuration.fileURL?.path ?? "") + ".fresh"))
        server.terminate()
        realm.syncSession?.resume()
        try await #require(realm.syncSession).wait(for: .upload)
        expectEqual(server.taskCount, 2)
    }

    @Test func aSecondResetAfterAFinishedOneWorks() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = Calls()
        let realm = try await offline(
            device, server, .recoverUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after))
        let session = try #require(realm.syncSession)
        server.terminate()
        session.resume()
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        await expectTrue(eventually { (try? realm.instance.core.file.pendingReset()) == .some(nil) })
        server.terminate()
        await expectTrue(eventually { calls.counts == [2, 2] })
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "z"]) }
        try await session.wait(for: .upload)
        expectEqual(server.taskCount, 3)
        expectTrue(device.clientErrors.isEmpty)
    }

    @Test func aRecordOfAFailedRecoveryEndsInManual() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let calls = Calls()
        let realm = try await offline(
            device, server, .recoverUnsyncedChanges(beforeReset: calls.before, afterReset: calls.after))
        let core = realm.instance.core
        try core.setSync(
            core.sync,
            pendingReset: .set(
                PendingReset(mode: .recover, action: .clientReset, time: 1, errorCode: 208, errorMessage: "earlier")))
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { device.clientErrors.contains { $0.code == .clientResetError } })
        expectEqual(calls.counts, [1, 0])
        expectEqual(realm.titles(), ["a": "client", "b": "offline"])
    }

    @Test func theBeforeBlockCanCopyTheRealm() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let copy = device.folder.appendingPathComponent("copy.realm")
        let realm = try await offline(
            device, server,
            .discardUnsyncedChanges(beforeReset: { before in
                do {
                    try before.writeCopy(configuration: Realm.Configuration(fileURL: copy))
                } catch {
                    Issue.record(error)
                }
            }))
        server.terminate()
        realm.syncSession?.resume()
        await expectTrue(eventually { realm.titles() == ["a": "old"] })
        try expectEqual(backedUpTitles(Realm.Configuration(fileURL: copy)), ["a": "client", "b": "offline"])
    }
}
