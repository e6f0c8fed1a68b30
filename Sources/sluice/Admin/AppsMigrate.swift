import AdminAPI
import ArgumentParser
import NIOCore
import NIOHTTP1
import SyncModel

struct AppsMigrate: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Move an app from partition to flexible sync, or back.",
        discussion: """
            While the app moves its clients wait and keep what they write; then each of them resets onto the other \
            mode by itself. What the partitions' realms hold comes into the flexible one, with a property that says \
            which partition an object is of, and back. What is left behind stays stored until it is erased. The \
            command waits for the end, and may be interrupted and given again to see how far it is.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "flexible or partition.") var to: SyncMode
    @Option(help: "The property that says which partition an object is of; _partition unless given.") var field: String?
    @Flag(help: "Keep the app's roles, and make none from its partition rules.") var keepRoles = false
    @Flag(help: "Do not wait until the app has moved.") var noWait = false

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.migration.path(app)
        var request = MigrationRequest(to: to.rawValue, field: field, keepRoles: keepRoles ? true : nil)
        let isKnown = try await known(by: admin)
        if confirmation.dryRun || !(confirmation.yes || isKnown) {
            request.dryRun = true
            let plan: MigrationPlan = try await admin.ask(path, .POST, body: request, timeout: .minutes(5))
            if confirmation.dryRun { return try output.show(plan, plan.text) }
            guard plan.problems.isEmpty else { throw CommandFailure(.badInput, plan.text) }
            try confirmation.require(typed: app, plan.text)
            request.dryRun = nil
        }
        request.confirm = app
        var now: MigrationDocument = try await admin.ask(path, .POST, body: request, timeout: .minutes(5))
        var shown: String?
        while true {
            let isOver = now.finishedAt != nil || noWait
            if output.json {
                if isOver { try Printing.json(now) }
            } else if now.text != shown {
                shown = now.text
                Printing.line(now.text)
            }
            if isOver { break }
            try await Task.sleep(for: .seconds(1))
            now = try await admin.ask(path)
        }
        if let problem = now.problem { throw CommandFailure(.badInput, "app \(app) stays as it was: \(problem)") }
    }

    /// Whether this move was begun before, so that there is nothing left to ask.
    private func known(by admin: AdminClient) async throws -> Bool {
        do {
            let last: MigrationDocument = try await admin.ask(AdminRoute.migration.path(app))
            return last.to == to.rawValue && last.problem == nil
        } catch let failure as CommandFailure where failure.kind == .notFound {
            return false
        }
    }
}

extension SyncMode: ExpressibleByArgument {}

extension MigrationPlan {
    fileprivate var text: String {
        var text =
            "moving app \(app) to \(to) sync: \(realms.counted("realm")) with \(objects.counted("object")), \(clientRealms.counted("client realm")) reset"
        if let access { text += "; then \(access)" }
        if !problems.isEmpty { text += "; what keeps it from that: " + problems.joined(separator: "; ") }
        return text
    }
}

extension MigrationDocument {
    fileprivate var text: String {
        switch phase {
        case "freezing": "app \(app): clients are asked to wait"
        case "clearing": "app \(app): what an earlier move has left is erased"
        case "copying": "app \(app): \(realms.counted("realm")) and \(objects.counted("object")) are copied"
        case "settling":
            "app \(app): \(realms.counted("realm")) and \(objects.counted("object")) are copied; client realms are counted"
        case "done": "app \(app) uses \(to) sync; its client realms are accounted for by campaign \(id)"
        default: "app \(app) stays as it was"
        }
    }
}
