import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Two users of one app who name the same realm: neither may get the other's session.
@Suite(.hangGuard)
struct TwoUsersTests {
    enum Place: CaseIterable {
        case file, memory
    }

    private struct Users {
        let server = TestServer()
        let device: Device
        let first: Realm.Configuration
        let second: Realm.Configuration

        init(sharing place: Place) async throws {
            try await server.start()
            device = Device(server)
            let users = [try await device.login(), try await device.login("second@example.test")]
            let name = "shared-\(UUID().uuidString)"
            let configurations = users.map { [device] user in
                var configuration = user.configuration(partitionValue: "p")
                configuration.dynamicSchema = Device.schema
                switch place {
                case .file: configuration.fileURL = device.folder.appendingPathComponent("\(name).realm")
                case .memory: configuration.inMemoryIdentifier = name
                }
                return configuration
            }
            (first, second) = (configurations[0], configurations[1])
        }

        func id(_ configuration: Realm.Configuration) -> String { configuration.syncConfiguration?.user.id ?? "" }
    }

    @Test(arguments: Place.allCases)
    func aSecondUserIsRefusedByAnErrorThatNamesBoth(place: Place) async throws {
        let users = try await Users(sharing: place)
        let realm = try await Realm(configuration: users.first, downloadBeforeOpen: .always)
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: users.second) }
        expectEqual(error?.code, .fail)
        for configuration in [users.first, users.second] {
            expectEqual(error?.message.contains(users.id(configuration)), true)
        }
        await #expect(throws: Realm.Error.self) {
            try await Realm(configuration: users.second, downloadBeforeOpen: .always)
        }
        try expectEqual(Realm.openNow(users.first).syncSession, realm.syncSession)
        expectEqual(realm.instance.core.sync.userID, users.id(users.first))
    }

    @Test(arguments: Place.allCases)
    func aSecondUserGetsASessionOfItsOwnWhenTheFirstHasLeft(place: Place) async throws {
        let users = try await Users(sharing: place)
        try await useAndRelease(users.first)
        let realm = try await openWhenFree(users.second)
        expectEqual(realm.syncSession?.parentUser()?.id, users.id(users.second))
    }

    /// The session outlives the realm for as long as uploads are to be done.
    @Test func aSecondUserIsRefusedWhileTheFirstUserUploads() async throws {
        let users = try await Users(sharing: .file)
        try await useAndRelease(users.first)
        users.server.refusesConnections = true
        users.server.dropConnections()
        try write(users.first)
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: users.second) }
        expectEqual(error?.message.contains("uploads"), true)
    }

    private func useAndRelease(_ configuration: Realm.Configuration) async throws {
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        try await realm.syncSession?.wait(for: .upload)
    }

    private func write(_ configuration: Realm.Configuration) throws {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.dynamicCreate("Task", value: ["_id": "a"]) }
    }

    private func openWhenFree(_ configuration: Realm.Configuration) async throws -> Realm {
        var realm: Realm?
        await expectTrue(
            eventually {
                realm = try? Realm(configuration: configuration)
                return realm != nil
            })
        return try #require(realm)
    }
}
