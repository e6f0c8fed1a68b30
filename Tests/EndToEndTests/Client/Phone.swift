import DeviceSync
import Foundation
import LocalCluster
import Synchronization
import TestSupport

/// A line of a list that people share.
final class Chore: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var text: String
    @Persisted var count: Int
    @Persisted var owner: String

    /// Other tests of this process have realms of all models of the program.
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A user with a realm of chores, as an app on a phone has it: everything on the main actor.
@MainActor
final class Phone {
    let user: User
    let realm: Realm

    /// A user, logged in.
    ///
    /// - Parameters:
    ///   - person: who logs in; a new one unless it is said.
    ///   - pings: milliseconds between PINGs, and until one without an answer means that the connection is dead.
    nonisolated static func user(
        of id: String, person: String = UUID().uuidString, isMultiplexing: Bool = true, pings: UInt? = nil
    ) async throws -> User {
        // Connections end with their last session, so that tests can count them.
        let app = App(
            id: id,
            configuration: AppConfiguration(
                baseURL: try TestGateway.url, enableSessionMultiplexing: isMultiplexing,
                syncTimeouts: SyncTimeoutOptions(
                    connectionLingerTime: 0, pingKeepalivePeriod: pings, pongKeepaliveTimeout: pings)))
        app.syncManager.callbackQueue = DispatchQueue(label: "phone.callbacks")
        return try await app.login(credentials: .jwt(token: CustomToken.sign(user: person, of: id)))
    }

    /// Opens a user's realm, as a rule with the class of chores.
    init(
        _ user: User, _ configuration: Realm.Configuration, downloadBeforeOpen: Realm.OpenBehavior = .once
    ) async throws {
        self.user = user
        var configuration = configuration
        if configuration.objectTypes == nil, configuration.dynamicSchema.isEmpty {
            configuration.objectTypes = [Chore.self]
        }
        realm = try await Realm(configuration: configuration, downloadBeforeOpen: downloadBeforeOpen)
    }

    /// A new user's realm of the partition `home`.
    convenience init(of app: String, _ mode: ClientResetMode = .recoverUnsyncedChanges()) async throws {
        let user = try await Self.user(of: app)
        try await self.init(user, user.configuration(partitionValue: "home", clientResetMode: mode))
    }

    var chores: Results<Chore> { realm.objects(Chore.self) }
    var ids: [String] { chores.map(\._id) }
    /// Everything, as text that can be compared.
    var contents: [String] { chores.map(\.line) }

    subscript(_ id: String) -> Chore? { realm.object(ofType: Chore.self, forPrimaryKey: id) }

    func add(_ ids: String..., owner: String = "") throws {
        try realm.write {
            for id in ids {
                _ = realm.create(Chore.self, value: ["_id": id, "text": "first", "count": 1, "owner": owner])
            }
        }
    }

    func change(_ id: String, _ change: (Chore) -> Void) throws {
        guard let chore = self[id] else { throw LocalClusterError("there is no \(id)") }
        try realm.write { change(chore) }
    }

    func delete(_ id: String) throws {
        guard let chore = self[id] else { throw LocalClusterError("there is no \(id)") }
        try realm.write { realm.delete(chore) }
    }

    var session: SyncSession {
        get throws {
            guard let session = realm.syncSession else { throw LocalClusterError("the realm has no session") }
            return session
        }
    }

    func upload() async throws { try await session.wait(for: .upload) }
    func download() async throws { try await session.wait(for: .download) }

    /// Returns when the session rests: what is written from then on stays here.
    func suspend() async throws {
        let session = try session
        session.suspend()
        try await eventually("the session rests") { session.state == .inactive }
    }
}

extension Chore {
    var line: String { "\(_id): \(text), \(count)" }
}

/// Errors that an app's handler, or a mode's own, was called with.
final class ErrorLog: Sendable {
    private let heard = Mutex<[(error: SyncError, user: String?)]>([])

    var handler: ErrorReportingBlock {
        { error, session in
            guard let error = error as? SyncError else { return }
            self.heard.withLock { $0.append((error, session?.parentUser()?.id)) }
        }
    }
    var errors: [SyncError] { heard.withLock { $0.map(\.error) } }
    var users: [String?] { heard.withLock { $0.map(\.user) } }
}
