import AdminAPI
import ArgumentParser
import NIOCore
import NIOHTTP1
import Storage
import SyncModel

struct AppsDelete: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an app with its realms, users, rules and campaigns.",
        discussion: """
            There is no such app any more as soon as the command is confirmed, and there will not be another one \
            with this id. What belonged to it goes in steps; the command waits for that, and may be interrupted and \
            given again to see how far it is.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Flag(help: "Do not wait until everything is gone.") var noWait = false

    func run(_ admin: AdminClient) async throws {
        if try await admin.deletion(of: app) == nil {
            if confirmation.dryRun || !confirmation.yes {
                let path = AdminRoute.app.path(app, query: [(.dryRun, "true")])
                let plan: ErasurePlan = try await admin.ask(path, .DELETE, timeout: .minutes(5))
                if confirmation.dryRun { return try output.show(plan, "would delete app \(app): \(plan.text)") }
                try confirmation.require(typed: app, "deleting app \(app), \(plan.text),")
            }
            let path = AdminRoute.app.path(app, query: [(.confirm, app)])
            let _: AppDeletionRecord = try await admin.ask(path, .DELETE)
        }
        var shown: String?
        while let deletion = try await admin.deletion(of: app) {
            let isOver = deletion.finishedAt != nil || noWait
            if output.json {
                if isOver { return try Printing.json(deletion) }
            } else if deletion.text != shown {
                shown = deletion.text
                Printing.line(deletion.text)
            }
            if isOver { return }
            try await Task.sleep(for: .seconds(1))
        }
    }
}

struct AppsDeletions: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "deletions", abstract: "List the apps that were deleted, and how far that is.")
    @OptionGroup var common: ReportOptions
    @Option(help: "At most so many, 1 to 1000.") var limit = 100

    func run(_ admin: AdminClient) async throws {
        let list: AppDeletionList = try await admin.ask(AdminRoute.deletions.path(query: [(.limit, "\(limit)")]))
        try output.show(
            list,
            Table(
                "APP", "DELETED", "BY", "SLICES DONE", "REALMS GONE", "LEFT", "FINISHED",
                rows: list.deletions.map { deletion in
                    [
                        deletion.app, Printing.time(ofUnixMilliseconds: deletion.at), deletion.by,
                        "\(deletion.slicesDone) of \(deletion.slices)", "\(deletion.realms)", "\(deletion.realmsLeft)",
                        deletion.finishedAt.map { Printing.time(ofUnixMilliseconds: $0) } ?? "-",
                    ]
                }))
    }
}

extension AdminClient {
    /// How far the deletion of an app is; nil if it was not deleted.
    fileprivate func deletion(of app: String) async throws -> AppDeletionRecord? {
        do {
            return try await ask(AdminRoute.deletion.path(app))
        } catch let failure as CommandFailure where failure.kind == .notFound {
            return nil
        }
    }
}

extension AppDeletionRecord {
    fileprivate var text: String {
        guard finishedAt == nil else { return "app \(app) deleted: nothing is left of it" }
        let left = realmsLeft > 0 ? ", \(realmsLeft) to go" : ""
        return
            "app \(app) deleted; \(slicesDone) of \(slices.counted("slice")) have nothing of it any more, \(realms.counted("realm is", "realms are")) gone\(left)"
    }
}
