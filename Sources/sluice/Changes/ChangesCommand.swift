import AdminAPI
import ArgumentParser
import Changesets
import ExtendedJSON
import Messages
import SyncModel

struct ChangesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes", abstract: "Follow what is done to an app's documents.",
        subcommands: [ChangesFollow.self])
}

struct ChangesFollow: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Print an app's changes as they come.",
        discussion: """
            The app's change feed has to be on: sluice apps set APP --change-feed keys, or documents. With --from \
            start all documents come first, then what is done to them since, without a gap or an overlap. With a \
            place, the last that was dealt with, come the documents that were touched since; a place is one of a \
            realm, so an app in partition mode needs --partition with it. What has to outlive this shell needs a \
            feed: sluice feeds (docs/change-feed.md). With --once it ends when all that there is was told: a feed \
            in which a change is missing is put right so.

            Exit codes: 66 the place is gone, start anew; 75 the stream ended, go on from the last place.
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The app.", completion: .apps) var app: String
    @Option(name: .customLong("class"), help: "Only changes of this class.") var className: String?
    @Option(help: "Only those of this realm: a partition value.") var partition: String?
    @Option(help: "now, start, or a place such as 1.17.0@9c2f01ab.") var from = "now"
    @Option(help: "End after so many documents and changes.") var count: Int?
    @Flag(help: "End when the documents that there are were told.") var once = false

    func run(_ admin: AdminClient) async throws {
        if let count, count < 1 { throw CommandFailure(.badInput, "--count: expected 1 or more, found \(count)") }
        guard !once || from != "now" else {
            throw CommandFailure(
                .badInput, "--once: expected --from start or a place, as nothing is told of what is now")
        }
        // The first coordinator that answers is followed.
        let _: AppDocument = try await admin.ask(AdminRoute.app.path(app))
        let path = AdminRoute.changes.path(
            app, query: [(.className, className), (.partition, partition), (.from, from)])
        var left = count
        try await admin.follow(path) { event in
            if event.name == "error" { throw failure(event) }
            if once, event.name == "ready" { return false }
            try show(event)
            if event.name == "document" || event.name == "change" { left = left.map { $0 - 1 } }
            return left != 0
        }
    }

    private func failure(_ event: ServerEvent) -> CommandFailure {
        let problem = try? ExtendedJSONParser.parse(event.data).document
        let code = problem?["error"]?.string?.string ?? "unknown"
        let message = problem?["message"]?.string?.string ?? "the stream ended"
        return CommandFailure(code == "place_gone" || code == "feed_off" ? .notFound : .tryAgain, "\(code): \(message)")
    }

    private func show(_ event: ServerEvent) throws {
        let text = String(decoding: event.data, as: UTF8.self)
        guard !output.json else {
            let id = event.id.map { #""id":\#(JSONText.quoted($0, asciiOnly: false)),"# } ?? ""
            return Printing.line(#"{"event":\#(JSONText.quoted(event.name, asciiOnly: false)),\#(id)"data":\#(text)}"#)
        }
        guard let data = try? ExtendedJSONParser.parse(event.data).document else { return Printing.line(text) }
        let realm = data["realm"]?.document?["partition"]?.string.map { " \(RealmName.shown($0.string))" } ?? ""
        let version = "\(data["generation"]?.integer ?? 0).\(data["version"]?.integer ?? 0)"
        let history = data["history"]?.string.map { "@\($0.string)" } ?? ""
        let key = data["key"].map { " \(ExtendedJSONWriter.text(of: $0))" } ?? ""
        let className = data["class"]?.string?.string ?? "-"
        switch event.name {
        case "ready": Printing.note("following \(app); interrupt to end")
        case "state": Printing.line("\(version)\(history)\(realm) all documents")
        case "document":
            let document = data["document"].map { ExtendedJSONWriter.text(of: $0) } ?? ""
            Printing.line("\(version)\(realm) \(className)\(key) \(document)")
        default:
            var rest = ""
            if let set = data["set"] { rest += " set \(ExtendedJSONWriter.text(of: set))" }
            if let removed = data["removed"] { rest += " removed \(ExtendedJSONWriter.text(of: removed))" }
            if let document = data["document"] { rest += " \(ExtendedJSONWriter.text(of: document))" }
            let place = "\(version).\(data["index"]?.integer ?? 0)\(history)"
            Printing.line(
                "\(place)\(realm) \(data["operation"]?.string?.string ?? event.name) \(className)\(key)\(rest)")
        }
    }
}
