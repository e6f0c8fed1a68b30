import ArgumentParser
import Inspection
import Rules
import Storage
import SyncModel

struct ViewsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views", abstract: "Say what clients of an app in flexible mode get.",
        subcommands: [ViewsExplain.self])
}

struct ViewsExplain: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what a user's clients would get, and why an object is in or out.",
        discussion: """
            Reads the store itself, beside a running cluster or without one, and changes nothing. Without --query, the subscriptions of
            each of the user's clients that the store knows are taken. Rules and user are taken as they are now.

              sluice views explain --app tasks --user 65f0...
              sluice views explain --app tasks --user 65f0... --query '{"Task": "done == false"}'
              sluice views explain --app tasks --user 65f0... --class Task --object 42
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The user's id.") var user: String
    @Option(help: "A query for each class, as JSON: {\"Task\": \"done == false\"}.") var query: String?
    @Option(name: .customLong("class"), help: "The class of --object; alone: only this class.") var className: String?
    @Option(help: "Say of this object why it is in or out: its primary key.") var object: String?
    @Option(help: "At most so many clients.") var limit = 10

    func validate() throws {
        if object != nil, className == nil { throw ValidationError("--object: give its --class, too") }
        if limit < 1 { throw ValidationError("--limit: expected 1 or more, found \(limit)") }
    }

    private struct Report: Encodable {
        var app: String
        var user: String
        var rulesVersion: UInt64
        var summary: String
        var isDisabled: Bool
        var views: [ViewReport]
    }

    private struct ViewReport: Encodable {
        /// Absent for `--query`.
        var client: ClientSubscriptions?
        var queries: String
        var classes: [ClassViewCount]
        var objects: [ObjectVerdict]
    }

    func run(_ settings: ClusterSettings) async throws {
        // First: it says so if there is no store in that place, and makes none.
        let realms = try await StoredRealms(settings)
        let control = try await settings.stores().control()
        guard let record = try await control.app(app) else {
            throw CommandFailure(.notFound, "there is no app \(app)")
        }
        guard record.syncMode == .flexible else {
            throw CommandFailure(
                .badInput,
                "app \(app) uses partition sync, where a client gets all of its partition: sluice rules explain says which it may have"
            )
        }
        guard let account = try await control.user(app: app, id: user) else {
            throw CommandFailure(.notFound, "app \(app) has no user \(user)")
        }
        var document: RulesDocument?
        if record.rulesVersion > 0, let rules = try await control.rules(app: app, version: record.rulesVersion) {
            document = RulesCheck(rules.document).document
            if document == nil {
                throw CommandFailure(
                    .internalError, "version \(rules.version) of the rules of app \(app) cannot be read")
            }
        }
        let roles = document?.closedRoles(of: RuleUser(account)) ?? .none
        let name = RealmName(flexible: app)
        let reader = try await realms.reader(of: name)
        var report = Report(
            app: app, user: user, rulesVersion: record.rulesVersion,
            summary: document?.summary(for: .flexible) ?? RulesDocument.summaryOfNone, isDisabled: account.isDisabled,
            views: [])
        let sets: [(ClientSubscriptions?, String)]
        if let query {
            sets = [(nil, query)]
        } else {
            sets = try await ClientSubscriptions.all(of: user, in: name, from: reader, limit: limit).map {
                ($0, $0.queries)
            }
        }
        for (client, queries) in sets {
            var objects: [ObjectVerdict] = []
            // A set that a client has goes on; in development mode what it asks for anew becomes queryable.
            let mayAdd = record.developmentMode && document?.queryable.isComplete != true
            let classes = try await ViewInspection.run(
                queries, roles, by: client == nil && !mayAdd ? document?.queryable : nil, on: name, in: reader,
                wanted: { $0 == className && $1 == object },
                tell: { objects.append($0) })
            report.views.append(
                ViewReport(
                    client: client, queries: queries,
                    classes: classes.filter { className == nil || $0.className == className }, objects: objects))
        }
        output.json ? try Printing.json(report) : show(report)
        if let object, report.views.contains(where: \.objects.isEmpty) {
            throw CommandFailure(.notFound, "class \(className ?? "") has no object \(object)")
        }
    }

    private func show(_ report: Report) {
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
