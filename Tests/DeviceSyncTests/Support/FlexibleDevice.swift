import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// A device with a realm in flexible mode, which can be killed and launched again.
final class FlexibleDevice: @unchecked Sendable {
    // Unchecked: a test uses its device from one task at a time.
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("flexible-\(UUID().uuidString)")
    private let baseURL: String
    private let transport: StubTransport
    private(set) var app: App
    let errors = Mutex<[SyncError]>([])

    init(_ server: FlexibleServer) {
        baseURL = server.baseURL
        transport = StubTransport(server: server)
        app = Self.launch(folder, baseURL, transport)
        listen()
    }

    /// A device without a network.
    init() {
        baseURL = "http://127.0.0.1:1"
        transport = StubTransport(baseURL: baseURL)
        app = Self.launch(folder, baseURL, transport)
        listen()
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func launch(_ folder: URL, _ baseURL: String, _ transport: StubTransport) -> App {
        Device.launch(folder, AppConfiguration(baseURL: baseURL, transport: transport))
    }

    private func listen() {
        app.syncManager.callbackQueue = DispatchQueue(label: "test.callbacks")
        app.syncManager.errorHandler = { [weak self] error, _ in
            if let error = error as? SyncError { self?.errors.withLock { $0.append(error) } }
        }
    }

    /// The process ends where it is and starts again on the same files.
    /// - Parameter realm: what the ending process has open.
    func relaunch(without realm: inout Realm?) async throws {
        let url = try #require(realm?.configuration.fileURL)
        app.core.sync.abandon()
        AppCore.forget(app.core)
        realm = nil
        await expectTrue(eventually { !RealmFileSet(main: url).isOpen })
        app = Self.launch(folder, baseURL, transport)
        listen()
    }

    func login() async throws -> User {
        try await app.login(credentials: .emailPassword(email: "first@example.test", password: "secret"))
    }

    func configuration(
        _ mode: ClientResetMode = .recoverUnsyncedChanges(), subscribing: [String] = [], rerunOnOpen: Bool = false,
        schema: [ObjectSchemaDescription] = Device.schema
    ) throws -> Realm.Configuration {
        let user = try #require(app.currentUser)
        var configuration =
            subscribing.isEmpty
            ? user.flexibleSyncConfiguration(clientResetMode: mode)
            : user.flexibleSyncConfiguration(
                clientResetMode: mode,
                initialSubscriptions: { subscriptions in
                    for query in subscribing { subscriptions.append(QuerySubscription("Task", where: query)) }
                }, rerunOnOpen: rerunOnOpen)
        configuration.dynamicSchema = schema
        return configuration
    }

    /// Logged in, with a realm that has everything of class Task.
    func open(_ mode: ClientResetMode = .recoverUnsyncedChanges()) async throws -> Realm {
        _ = try await login()
        return try await Realm(
            configuration: configuration(mode, subscribing: ["TRUEPREDICATE"]), downloadBeforeOpen: .always)
    }
}

extension Realm {
    func suspended() async throws -> Realm {
        let session = try #require(syncSession)
        session.suspend()
        await expectTrue(eventually { session.state == .inactive })
        return self
    }
}

extension SyncSubscriptionSet {
    /// Updates without waiting, where the asynchronous call would be taken otherwise.
    func updateNow(_ block: () -> Void) { update(block) }
}
