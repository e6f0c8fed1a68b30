import ArgumentParser
import DeviceSync
import Foundation
import Logging

@main
struct Tasks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tasks", abstract: "A task list that several people share, online or not.",
        discussion: "Reads commands from standard input; `help` lists them.")

    @Option(help: "The server's address: that of a gateway.") var server = "http://127.0.0.1:9080"
    @Option(help: "The app's id on the server.") var app = "tasks"
    @Option(help: "Your e-mail address.") var user: String
    @Option(help: "Your password; needed until this device has logged in once.") var password: String?
    @Flag(help: "Make the account first.") var register = false
    @Option(help: "The list to begin with.") var list = "home"
    @Flag(help: "Begin offline, with what this device has.") var offline = false
    @Flag(help: "Say on standard error what the library does.") var verbose = false
    @Option(help: "Where this device keeps its copy; of one process at a time.") var folder: String?

    func run() async throws {
        // The library writes to the program's log. A person at a terminal sees what is wrong from what the program says.
        let level: Logging.Logger.Level = verbose ? .trace : .critical
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let account = Account(server: server, app: app, email: user, password: password, isNew: register)
        let folder = folder ?? "\(NSHomeDirectory())/.local/share/tasks/\(user)"
        try await Self.share(account, list: list, isOffline: offline, folder: URL(fileURLWithPath: folder))
    }

    /// Everything that shows or changes tasks runs on the main actor, where the realm was opened.
    @MainActor
    private static func share(_ account: Account, list: String, isOffline: Bool, folder: URL) async throws {
        Realm.Configuration.baseDirectory = folder
        let tasks = try await TaskList(account, list: list, isOffline: isOffline)
        for await line in Terminal.lines {
            do {
                guard try await Command(line).perform(on: tasks) else { break }
            } catch {
                Terminal.show("! \(error)")
            }
        }
        tasks.close()
    }
}
