import Changesets
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// A write that is more than a server takes at once is not stored; where one is stored nevertheless, nothing is reset, and nothing is lost.
@Suite(.hangGuard)
struct OversizedWriteTests {
    private func started(_ server: TestServer) async throws -> (Device, Realm) {
        try await server.start()
        let device = Device(server)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration(), downloadBeforeOpen: .always)
        return (device, realm)
    }

    private static func text(_ bytes: Int) -> String { String(repeating: "x", count: bytes) }

    @Test func aWriteThatNoServerTakesIsRefusedBeforeItIsStored() async throws {
        let server = TestServer()
        let (device, realm) = try await started(server)
        let error = #expect(throws: Realm.Error.self) {
            try realm.write {
                realm.dynamicCreate("Task", value: ["_id": "a", "title": Self.text(8 << 20)])
                realm.dynamicCreate("Task", value: ["_id": "b", "title": Self.text(7 << 20)])
            }
        }
        expectEqual(error?.code, .invalidInput)
        expectEqual(error?.message.contains("\(ProtocolLimits.maxUploadedBytes)"), true)
        expectEqual(error?.message.contains("divide it"), true)
        expectTrue(realm.titles().isEmpty && !realm.isInWriteTransaction)
        // Divided, it goes up.
        for key in ["a", "b"] {
            try realm.write { realm.dynamicCreate("Task", value: ["_id": key, "title": Self.text(7 << 20)]) }
        }
        try await #require(realm.syncSession).wait(for: .upload)
        expectTrue(server.taskCount == 2 && device.clientErrors.isEmpty)
    }

    @Test func theLargestWriteFitsIntoAMessage() async throws {
        let server = TestServer()
        let (device, realm) = try await started(server)
        let core = realm.instance.core
        var state = core.snapshot.state
        let overhead = try state.record {
            try $0.createObject(ObjectAddress("Task", .string("a")))
            try $0.set(FieldAddress(ObjectAddress("Task", .string("a")), "title"), to: .string(""))
        }.changeset.count
        // The length takes three bytes more than that of an empty text.
        let room = ProtocolLimits.maxUploadedBytes - overhead - 3
        #expect(throws: Realm.Error.self) {
            try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": Self.text(room + 32)]) }
        }
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": Self.text(room - 32)]) }
        try await #require(realm.syncSession).wait(for: .upload)
        let uploads = server.messages.compactMap { message -> Upload? in
            if case .upload(let upload) = message, !upload.entries.isEmpty { upload } else { nil }
        }
        let last = try #require(uploads.last)
        let bytes = try MessageEncoder(mode: .partition).encode(.upload(last))
        _ = try ClientMessageParser(mode: .partition, limits: .ofClients).parse(bytes)
        expectTrue(device.clientErrors.isEmpty)
    }

    @Test func aLocalRealmTakesIt() throws {
        var configuration = Realm.Configuration(inMemoryIdentifier: "oversized-\(UUID())")
        configuration.dynamicSchema = Device.schema
        let realm = try Realm(configuration: configuration)
        try realm.write {
            for key in ["a", "b"] { realm.dynamicCreate("Task", value: ["_id": key, "title": Self.text(8 << 20)]) }
        }
        expectEqual(realm.titles().count, 2)
    }

    /// The oversized write is stored as an earlier release stored it.
    @Test func oneThatIsStoredIsNotSentAndNotLost() async throws {
        let server = TestServer()
        let (device, realm) = try await started(server)
        let core = realm.instance.core
        try core.writing {
            var state = core.snapshot.state
            let changeset = try state.record {
                for key in ["a", "b"] {
                    let task = ObjectAddress("Task", .string(ByteString(key)))
                    try $0.createObject(task)
                    try $0.set(FieldAddress(task, "title"), to: .string(ByteString(Self.text(8 << 20))))
                }
            }.changeset
            var commit = FileCommit(version: core.snapshot.version + 1, taking: &state)
            commit.entry = HistoryEntry(
                version: commit.version, originTimestamp: core.nextTimestamp(), originFile: 0,
                remoteVersion: core.sync.progress.download.serverVersion, changeset: changeset)
            try core.commit(commit, state: state)
        }
        let sent = server.messages.count
        realm.syncSession?.localVersion()
        await expectTrue(eventually { realm.syncSession?.state == .inactive })
        let error = try #require(device.clientErrors.last)
        expectTrue(error.code == .clientSessionError && error.serverErrorName == "LimitExceeded" && error.isFatal)
        expectTrue(error.message.contains("stays on this device"))
        expectTrue(server.messages.dropFirst(sent).allSatisfy { $0.name != "upload" })
        expectTrue(realm.titles().count == 2 && server.outcomes.isEmpty)
    }

    @Test func aCloseForAMessageTooLargeStopsTheRealmAndResetsNothing() async throws {
        let server = TestServer()
        let (device, realm) = try await started(server)
        let ident = realm.instance.core.sync.ident
        server.maxUploadBytes = 1 << 20
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a", "title": Self.text(2 << 20)]) }
        await expectTrue(eventually { realm.syncSession?.state == .inactive })
        let error = try #require(device.clientErrors.last)
        expectTrue(error.code == .clientSessionError && error.serverErrorName == "LimitExceeded" && error.isFatal)
        expectEqual(realm.titles().count, 1)
        // The same again, at the next launch too: nothing else.
        await expectTrue(
            eventually {
                // The connection before may still be ending.
                if device.clientErrors.count < 2 { realm.syncSession?.resume() }
                return device.clientErrors.count >= 2
            })
        await expectTrue(eventually { realm.syncSession?.state == .inactive })
        expectTrue(realm.instance.core.sync.ident == ident && server.outcomes.isEmpty)
        expectEqual(realm.titles().count, 1)
        // A server that takes it gets it.
        server.maxUploadBytes = .max
        await expectTrue(
            eventually {
                // What was asked for before may have begun an upload that this server did not take yet.
                if realm.syncSession?.state == .inactive { realm.syncSession?.resume() }
                return server.taskCount == 1
            })
        expectEqual(realm.instance.core.sync.ident, ident)
    }
}
