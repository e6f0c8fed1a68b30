import DeviceSync
import Foundation

/// Who uses this device, and at which server.
struct Account: Sendable {
    var server: String
    var app: String
    var email: String
    var password: String?
    var isNew: Bool

    /// The user, from this device's cache if they have logged in here before: then no network is needed.
    func login() async throws -> User {
        let app = App(id: app, configuration: AppConfiguration(baseURL: server))
        app.syncManager.errorHandler = { error, _ in
            let undone = (error as? SyncError)?.compensatingWriteInfo ?? []
            for write in undone { Terminal.show("! undone by the server: \(write.reason)") }
            if undone.isEmpty { Terminal.show("! \(error.localizedDescription)") }
        }
        if let user = app.currentUser, user.isLoggedIn, user.profile.email == email { return user }
        guard let password else { throw AccountError(email: email) }
        if isNew { try await app.emailPasswordAuth.registerUser(email: email, password: password) }
        return try await app.login(credentials: .emailPassword(email: email, password: password))
    }
}

struct AccountError: Error, CustomStringConvertible {
    let email: String
    var description: String { "\(email) has not logged in on this device yet: give --password" }
}
