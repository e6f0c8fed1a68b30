import ArgumentParser
import DeviceSync
import Foundation

@main
struct Main: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assigner", abstract: "Gives the tasks of all lists to the members of a team.",
        discussion: "Runs until it gets SIGTERM or SIGINT. Any number of them may run, each with a folder of its own.")

    @Option(help: "The server's address: that of a gateway.") var server = "http://127.0.0.1:9080"
    @Option(help: "The app's id on the server.") var app = "tasks"
    @Option(help: "The e-mail address of the program's own account.") var user: String
    @Option(help: "Its password; needed until it has logged in once.") var password: String?
    @Flag(help: "Make the account first.") var register = false
    @Option(name: .customLong("member"), help: "Who may be given tasks; several times.") var members: [String]
    @Option(help: "Where the program keeps its copy; of one process at a time.") var folder: String

    func validate() throws {
        guard !members.isEmpty else { throw ValidationError("name somebody: --member ann --member ben") }
    }

    func run() async throws {
        Realm.Configuration.baseDirectory = URL(fileURLWithPath: folder)
        let app = App(id: app, configuration: AppConfiguration(baseURL: server))
        app.syncManager.errorHandler = { error, _ in Output.show("! \(error.localizedDescription)") }
        let user = try await login(app)
        let assigner = try await Assigner(user: user, team: Team(members))
        try await assigner.run(until: Signals.toStop())
        Output.show("stopped")
    }

    private func login(_ app: App) async throws -> User {
        if let user = app.currentUser, user.isLoggedIn, user.profile.email == self.user { return user }
        guard let password else { throw ValidationError("\(self.user) has not logged in here yet: give --password") }
        if register { try await app.emailPasswordAuth.registerUser(email: self.user, password: password) }
        return try await app.login(credentials: .emailPassword(email: self.user, password: password))
    }
}
