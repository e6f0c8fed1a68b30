import Dispatch
import Foundation
import Synchronization
import Testing

@testable import DeviceSync

/// One device with files of its own: an app on the test server, which can be killed and launched again.
final class Device: @unchecked Sendable {
    // Unchecked: a test uses its device from one task at a time.
    static let schema = [
        ObjectSchemaDescription(
            "Task", primaryKey: PropertyDescription("_id", .string),
            properties: [
                PropertyDescription("title", .string, isOptional: true), PropertyDescription("count", .int),
                PropertyDescription("done", .bool), PropertyDescription("numbers", .int, collection: .list),
                PropertyDescription("friends", .object("Task"), collection: .list),
                PropertyDescription("best", .object("Task")), PropertyDescription("any", .any),
                PropertyDescription("names", .string, collection: .map),
                PropertyDescription("tags", .string, collection: .set),
                PropertyDescription("address", .object("Address")),
            ]),
        ObjectSchemaDescription(
            embedded: "Address", properties: [PropertyDescription("street", .string, isOptional: true)]),
    ]

    let folder: URL
    private let ownsFolder: Bool
    let server: TestServer
    let transport: StubTransport
    private(set) var app: App
    let errors = Mutex<[(any Error, SyncSession?)]>([])

    /// - Parameter folder: nil for a new device.
    init(_ server: TestServer, folder: URL? = nil) {
        ownsFolder = folder == nil
        self.folder =
            folder ?? FileManager.default.temporaryDirectory.appendingPathComponent("sdk-\(UUID().uuidString)")
        self.server = server
        transport = StubTransport(server: server)
        app = Self.launch(self.folder, server, transport)
        listen()
    }

    deinit {
        if ownsFolder { try? FileManager.default.removeItem(at: folder) }
    }

    private static let launchLock = NSLock()

    private static func launch(_ folder: URL, _ server: TestServer, _ transport: StubTransport) -> App {
        launch(folder, AppConfiguration(baseURL: server.baseURL, transport: transport))
    }

    /// An app with files in a folder of its own.
    static func launch(_ folder: URL, _ configuration: AppConfiguration) -> App {
        launchLock.withLock {
            Realm.Configuration.baseDirectory = folder
            return App(id: "test", configuration: configuration)
        }
    }

    private func listen() {
        app.syncManager.callbackQueue = DispatchQueue(label: "test.callbacks")
        app.syncManager.errorHandler = { [weak self] error, session in
            self?.errors.withLock { $0.append((error, session)) }
        }
    }

    /// The process ends where it is.
    func quit() {
        app.core.sync.abandon()
        AppCore.forget(app.core)
    }

    /// The process ends where it is and starts again on the same files.
    func relaunch() {
        quit()
        app = Self.launch(folder, server, transport)
        listen()
    }

    func login(_ email: String = "first@example.test") async throws -> User {
        try await app.login(credentials: .emailPassword(email: email, password: "secret"))
    }

    func configuration(
        _ mode: ClientResetMode = .recoverUnsyncedChanges(), schema: [ObjectSchemaDescription] = Device.schema
    ) throws -> Realm.Configuration {
        let user = try #require(app.currentUser)
        var configuration = user.configuration(partitionValue: "p", clientResetMode: mode)
        configuration.dynamicSchema = schema
        return configuration
    }

    var clientErrors: [SyncError] { errors.withLock { $0.compactMap { $0.0 as? SyncError } } }
}

/// Polls until the condition holds; false after a minute, which is long because machines may be busy.
func eventually(_ condition: () throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
        if try condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return try condition()
}

extension Realm {
    /// Opens by the synchronous initialiser, where the asynchronous one would be taken otherwise.
    static func openNow(_ configuration: Configuration) throws -> Realm { try Realm(configuration: configuration) }

    func titles() -> [String: String?] {
        // What is synced meanwhile may delete objects of a live realm while they are read.
        let still = isFrozen || isInWriteTransaction ? self : freeze()
        return Dictionary(
            still.dynamicObjects("Task").map { (($0.primaryKey as? String) ?? "?", $0["title"] as? String) },
            uniquingKeysWith: { first, _ in first })
    }
}
