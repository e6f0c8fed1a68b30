import DeviceSync
import Foundation
import LocalCluster
import Synchronization

/// A user with a realm of one partition, as an app on a device has it. Several live in the test's process.
final class Device: Sendable {
    static let partition = "store-nw"

    let partition: String
    let user: User
    let resets = ResetCounter()
    private let opened: Mutex<Realm?> = Mutex(nil)
    private let mode: String
    private let schema: [ObjectSchemaDescription]

    static let items = [
        ObjectSchemaDescription(
            "Item", primaryKey: PropertyDescription("_id", .string),
            properties: [PropertyDescription("name", .string), PropertyDescription("stock", .int)])
    ]

    /// Logs a new user in and opens its realm after the first download.
    convenience init(
        _ cluster: LocalCluster, mode: String = "recover", partition: String = Device.partition,
        schema: [ObjectSchemaDescription] = Device.items
    ) async throws {
        try await self.init(
            user: try await Self.user(of: cluster), mode: mode, partition: partition, schema: schema)
    }

    /// A new user of the test's app, logged in with a token: a password takes a second at its registration and at each login.
    static func user(of cluster: LocalCluster, byPassword: Bool = false) async throws -> User {
        let app = App(
            id: cluster.app,
            configuration: AppConfiguration(baseURL: cluster.gatewayURL, authoritiesFile: cluster.authoritiesFile))
        app.syncManager.callbackQueue = DispatchQueue(label: "device.callbacks")
        let person = "\(UUID().uuidString.lowercased())@example.net"
        guard byPassword else {
            return try await app.login(credentials: .jwt(token: CustomToken.sign(user: person, of: cluster.app)))
        }
        try await app.emailPasswordAuth.registerUser(email: person, password: "correct horse")
        return try await app.login(credentials: .emailPassword(email: person, password: "correct horse"))
    }

    /// Opens a user's realm after the first download.
    init(
        user: User, mode: String = "recover", partition: String = Device.partition,
        schema: [ObjectSchemaDescription] = Device.items
    ) async throws {
        self.user = user
        self.partition = partition
        self.mode = mode
        self.schema = schema
        let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
        opened.withLock { $0 = realm }
    }

    private var configuration: Realm.Configuration {
        let resets = resets
        let after: @Sendable (Realm, Realm) -> Void = { _, _ in resets.count.withLock { $0 += 1 } }
        let resetMode: ClientResetMode =
            switch mode {
            case "discard": .discardUnsyncedChanges(afterReset: after)
            case "recoverOrDiscard": .recoverOrDiscardUnsyncedChanges(afterReset: after)
            default: .recoverUnsyncedChanges(afterReset: after)
            }
        var configuration = user.configuration(partitionValue: partition, clientResetMode: resetMode)
        configuration.dynamicSchema = schema
        return configuration
    }

    var realm: Realm {
        get throws {
            guard let realm = opened.withLock({ $0 }) else { throw LocalClusterError("the realm is closed") }
            return realm
        }
    }

    var session: SyncSession {
        get throws {
            guard let session = try realm.syncSession else { throw LocalClusterError("there is no session") }
            return session
        }
    }

    func create(_ id: String, name: String = "thing", stock: Int = 1) throws {
        let realm = try realm
        try realm.write { _ = realm.dynamicCreate("Item", value: ["_id": id, "name": name, "stock": stock]) }
    }

    func ids(of className: String = "Item") throws -> Set<String> {
        let realm = try realm
        guard realm.schema[className] != nil else { return [] }
        return Set(realm.dynamicObjects(className).compactMap { $0["_id"].map { "\($0)" } })
    }

    func upload() async throws { try await session.wait(for: .upload) }
    func download() async throws { try await session.wait(for: .download) }

    /// Returns when the session rests: what is written from then on stays here.
    func suspend() async throws {
        let session = try session
        session.suspend()
        try await LocalCluster.retrying("the session rests") {
            guard session.state == .inactive else { throw LocalClusterError("it is \(session.state)") }
        }
    }
}

final class ResetCounter: Sendable {
    let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
}
