import AdminAPI
import ArgumentParser
import Inspection
import NIOCore
import SyncModel

struct ViewsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views", abstract: "Say what clients of an app in flexible mode get.",
        subcommands: [ViewsExplain.self])
}

struct ViewsExplain: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what a user's clients would get, and why an object is in or out.",
        discussion: """
            The coordinator reads the store, and changes nothing. Without --query, the subscriptions of each of the \
            user's clients that the store knows are taken. Rules and user are taken as they are now.

              sluice views explain --app tasks --user 65f0...
              sluice views explain --app tasks --user 65f0... \\
                  --query '{"Task": "done == false"}'
              sluice views explain --app tasks --user 65f0... --class Task --object 42
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The user's id.") var user: String
    @Option(help: "A query for each class, as JSON: {\"Task\": \"done == false\"}.") var query: String?
    @Option(name: .customLong("class"), help: "The class of --object; alone: only this class.") var className: String?
    @Option(help: "Say of this object why it is in or out: its primary key.") var object: String?
    @Option(help: "At most so many clients.") var limit = AdminLimits.explainedClients

    func validate() throws {
        if object != nil, className == nil { throw ValidationError("--object: give its --class, too") }
        if limit < 1 { throw ValidationError("--limit: expected 1 or more, found \(limit)") }
    }

    func run(_ admin: AdminClient) async throws {
        let report: ViewsReport = try await admin.ask(
            AdminRoute.viewsExplanation.path(
                app,
                query: [
                    (.user, user), (.query, query), (.className, className), (.id, object), (.limit, "\(limit)"),
                ]), timeout: .minutes(11))
        output.json ? try Printing.json(report) : show(report)
        if let object, report.views.contains(where: \.objects.isEmpty) {
            throw CommandFailure(.notFound, "class \(className ?? "") has no object \(object)")
        }
    }

    private func show(_ report: ViewsReport) {
        Printing.line("\(report.app), rules version \(report.rulesVersion): \(report.summary)")
        if report.isDisabled {
            Printing.line("the account is disabled: the user cannot come in, whatever the rules say")
        }
        if report.views.isEmpty {
            Printing.line("the store knows no client of user \(report.user.oneLine): give subscriptions with --query")
        }
        for view in report.views {
            let heading = view.client.map { "client file \($0.clientFile), set \($0.version)" } ?? "--query"
            Printing.line("\n\(heading): \(view.queries.oneLine)")
            let rows = view.classes.map { line in
                [
                    line.className.oneLine, line.role.map(\.oneLine) ?? "(none)", line.query.map(\.oneLine) ?? "(none)",
                    "\(line.objects)", "\(line.selected)", "\(line.visible)", "\(line.inView)",
                    line.hidden.isEmpty ? "-" : line.hidden.joined(separator: ", ").oneLine,
                ]
            }
            Printing.line(
                Table("CLASS", "ROLE", "QUERY", "OBJECTS", "SELECTED", "READABLE", "IN VIEW", "HIDDEN", rows: rows)
                    .rendered())
            for object in view.objects {
                Printing.line(
                    """
                    \(object.className.oneLine) \(object.key.oneLine): \(object.isInView ? "in the view" : "not in the view")
                      the query \(object.isSelected ? "selects it" : "does not select it")
                      the role \(object.isVisible ? "lets the user read it" : "does not let the user read it")\(
                          object.mayWrite ? ", and write it" : ", and does not let the user write it")
                      looked at: \(JSONWriter.text(of: object.looksAt).oneLine)
                    """)
            }
        }
    }
}
