import Changesets
import Foundation
import RealmState
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import DeviceSync

/// The rules by which the copies of an app's realms are made: all by the same, whatever happens in between.
@Suite(.hangGuard)
struct CompatibilityTests {
    private static let schema = [
        ObjectSchemaDescription(
            "Task", primaryKey: PropertyDescription("_id", .string),
            properties: [
                PropertyDescription("places", .object("Place"), collection: .map),
                PropertyDescription("marks", .any, collection: .set),
            ]),
        ObjectSchemaDescription(
            embedded: "Place",
            properties: [
                PropertyDescription("street", .string, isOptional: true),
                PropertyDescription("town", .string, isOptional: true),
            ]),
    ]

    /// A device whose session rests; it has the one object that all of them have.
    private struct Resting {
        let device: Device
        let realm: Realm
        let session: SyncSession

        init(_ server: TestServer, _ email: String) async throws {
            device = Device(server)
            _ = try await device.login(email)
            realm = try await Realm(
                configuration: device.configuration(schema: CompatibilityTests.schema), downloadBeforeOpen: .always)
            session = try #require(realm.syncSession)
            if task == nil {
                try realm.write {
                    realm.dynamicCreate(
                        "Task", value: ["_id": "a", "places": ["old": ["street": "old", "town": "old"]]])
                }
            }
            try await session.wait(for: .upload)
            let session = session
            session.suspend()
            await expectTrue(eventually { session.state == .inactive })
        }

        var core: RealmCore { realm.instance.core }
        var digest: StateDigest { StateDump.digest(of: core.snapshot.state) }
        var task: DynamicObject? { realm.dynamicObject(ofType: "Task", forPrimaryKey: "a") }
        var places: DynamicMap? { task?["places"] as? DynamicMap }
        var marks: DynamicSet? { task?["marks"] as? DynamicSet }

        func place(_ key: String) -> [String?] {
            let place = places?[key] as? DynamicObject
            return [place?["street"] as? String, place?["town"] as? String]
        }
    }

    /// Two devices that know nothing of each other's changes: an object made at one key by both, one replaced that the other
    /// changes inside, and two numbers that are one member of a set.
    private static func apart(_ server: TestServer) async throws -> (first: Resting, second: Resting) {
        let first = try await Resting(server, "first@example.test")
        let second = try await Resting(server, "second@example.test")
        try first.realm.write {
            first.places?["new"] = ["street": "first"]
            first.places?["old"] = ["street": "first"]
            first.marks?.insert(1)
        }
        try second.realm.write {
            second.places?["new"] = ["town": "second"]
            (second.places?["old"] as? DynamicObject)?["town"] = "second"
            second.marks?.insert(1.0)
        }
        return (first, second)
    }

    private static func meet(_ devices: Resting...) async throws {
        for device in devices {
            device.session.resume()
            try await device.session.wait(for: .upload)
        }
        for device in devices { try await device.session.wait(for: .download) }
    }

    @Test func copiesOfAConvergentAppEndEqual() async throws {
        let server = TestServer(.convergent)
        try await server.start()
        let (first, second) = try await Self.apart(server)
        try await Self.meet(first, second)
        expectEqual(first.digest, server.digest)
        expectEqual(second.digest, server.digest)
        expectEqual(second.place("new"), ["first", "second"])
        expectEqual(second.place("old"), ["first", nil])
        expectEqual(first.marks?.count, 1)
    }

    /// What the setting is for.
    @Test(arguments: [nil, PeerCompatibility.stockClients])
    func copiesOfAnAppForStockClientsComeApart(compatibility: PeerCompatibility?) async throws {
        let server = TestServer(compatibility)
        try await server.start()
        let (first, second) = try await Self.apart(server)
        try await Self.meet(first, second)
        expectEqual(first.core.sync.rules, .stockClients)
        expectTrue(first.digest != second.digest)
    }

    @Test func aClientResetKeepsToTheRules() async throws {
        let server = TestServer(.convergent)
        try await server.start()
        let (first, second) = try await Self.apart(server)
        server.terminate()
        try await Self.meet(first, second)
        for device in [first, second] {
            expectEqual(device.core.sync.compatibility, .convergent)
            expectEqual(device.core.snapshot.state.compatibility, .convergent)
            await expectTrue(eventually { device.digest == server.digest })
        }
    }

    @Test func aServerThatForgetsTheRulesIsNotFollowed() async throws {
        let server = TestServer(.convergent)
        try await server.start()
        let device = try await Resting(server, "first@example.test")
        server.keepsRulesToItself = true
        server.dropConnections()
        await expectTrue(eventually { server.connectionCount == 0 })
        try server.edit { try $0.createObject(ObjectAddress("Task", .string("b"))) }
        device.session.resume()
        await expectTrue(
            eventually {
                device.device.clientErrors.contains { $0.message.contains("does not say that its are") }
            })
        expectEqual(device.core.sync.compatibility, .convergent)
        expectEqual(device.realm.dynamicObjects("Task").count, 1)
        server.keepsRulesToItself = false
        server.dropConnections()
        device.session.reconnect()
        try await device.session.wait(for: .download)
        expectEqual(device.digest, server.digest)
    }

    @Test func aCopyKeepsItsRulesWhenItIsOpenedAgain() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for rules in PeerCompatibility.allCases {
            let location = RealmCore.Location.file(folder.appendingPathComponent("\(rules).realm"))
            let core = try RealmCore(location: location, isSynced: true)
            // Nobody has said anything yet: what is recorded now is right under either.
            expectEqual(core.snapshot.state.compatibility, .convergent)
            var sync = core.sync
            sync.ident = ClientFileIdent(ident: 2, salt: 3)
            sync.compatibility = rules
            try core.setSync(sync)
            expectEqual(core.snapshot.state.compatibility, rules)
            try core.file.close()
            let again = try RealmCore(location: location, isSynced: true)
            expectEqual(again.snapshot.state.compatibility, rules)
            try again.file.close()
        }
    }

    @Test func copiesFromBeforeTheSettingAreForStockClients() throws {
        var sync = SyncFileState(ident: ClientFileIdent(ident: 2, salt: 3), partition: "p", userID: "u")
        let coded = try JSONEncoder().encode(sync)
        expectTrue(!String(decoding: coded, as: UTF8.self).contains("compatibility"))
        let decoded = try JSONDecoder().decode(SyncFileState.self, from: coded)
        expectEqual(decoded.rules, .stockClients)
        sync.ident = nil
        expectEqual(sync.rules, .convergent)
    }
}
