import DeviceSync
import Foundation
import LocalCluster

/// An app that is installed on a phone of its own, to be launched again and again: each launch is a process, whose files stay for the next.
struct InstalledApp: Codable, Sendable {
    let id: String
    let server: String
    /// The name of the person who uses the phone.
    let person: String
    private let folder: URL

    init(_ id: String, of cluster: LocalCluster) throws {
        self.id = id
        server = try TestGateway.url
        person = UUID().uuidString
        folder = URL(fileURLWithPath: cluster.folder).appendingPathComponent("phone-\(UUID().uuidString)")
    }

    /// The folder of all that the app keeps.
    var files: URL { folder.appendingPathComponent("mongodb-realm/\(id)") }

    /// The app, launched in this process.
    func launch() -> App {
        Realm.Configuration.baseDirectory = folder
        return App(id: id, configuration: AppConfiguration(baseURL: server))
    }

    /// The app in this process, which the person logs into.
    func launchAndLogIn() async throws -> App {
        let app = launch()
        _ = try await app.login(credentials: .jwt(token: CustomToken.sign(user: person, of: id)))
        return app
    }
}

extension Phone {
    /// The realm `home` of whoever is logged in.
    convenience init(
        launched app: App, _ mode: ClientResetMode = .recoverUnsyncedChanges(), downloadBeforeOpen: Realm.OpenBehavior
    ) async throws {
        guard let user = app.currentUser else { throw LocalClusterError("nobody is logged in") }
        let configuration = user.configuration(partitionValue: "home", clientResetMode: mode)
        try await self.init(user, configuration, downloadBeforeOpen: downloadBeforeOpen)
    }
}
