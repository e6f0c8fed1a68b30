import AdminAPI
import ArgumentParser
import Changesets
import ExtendedJSON
import NIOCore

struct DocumentsGet: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the document with a primary key.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var form: DocumentOutputOptions
    @Option(help: "Only if this user may read it: the user's id.") var user: String?
    @Argument(help: "The primary key: a number, a word, or extended JSON such as {\"$oid\":\"...\"}.") var id:
        DocumentKey

    func run(_ admin: AdminClient) async throws {
        let page = try await admin.documents(
            of: wanted.app, wanted.query + [(.user, user)], id: id.value, limit: 1, canonical: form.canonical)
        guard let document = page.documents.first else {
            throw CommandFailure(
                .notFound, "there is no \(wanted.className) \(ExtendedJSONWriter.text(of: id.value)) in the realm")
        }
        Printing.document(document, form)
    }
}

/// What selects the documents that a command is about.
struct DocumentSelection: ParsableArguments {
    @Option(help: "Only what this filter selects, such as {\"done\": false, \"priority\": {\"$gt\": 2}}.")
    var filter: DocumentText?
    @Option(help: "Only what this query selects, in the language of subscriptions: done == false AND priority > 2.")
    var query: String?
    @Option(help: "Only what this user may read: the user's id.") var user: String?

    func validate() throws {
        if filter != nil, query != nil { throw ValidationError("give either --filter or --query") }
    }

    var items: [(AdminQuery, String?)] { [(.filter, filter?.text), (.query, query), (.user, user)] }
}

struct DocumentsFind: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Print documents, one a line.",
        discussion: """
            Without --sort they come in an order that is always the same, and all of them come unless --limit says \
            how many. With --sort the first 1,000 come. With --snapshot all of them are of one moment; else each \
            page of them is.

            With several --partition, or --all-partitions, each is printed as {"realm": ..., "document": ...}; those \
            of each partition are of one moment.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentRealmsOptions
    @OptionGroup var form: DocumentOutputOptions
    @OptionGroup var selection: DocumentSelection
    @Option(help: "Sort by these properties, such as {\"priority\": -1, \"title\": 1}.") var sort: DocumentText?
    @Option(
        help: """
            Print only these properties beside the primary key: with commas between, or as {"title": 1, "place.city": 1}; {"secret": 0} \
            prints all others.
            """)
    var fields: String?
    @Option(help: "Print at most so many.") var limit: Int?
    @Flag(help: "Print documents as they are at one moment.") var snapshot = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit: expected at least 1") }
        if wanted.isOfSeveral, sort != nil {
            throw ValidationError("--sort: documents of several partitions are not sorted")
        }
        if sort != nil || snapshot || wanted.isOfSeveral, let limit, limit > AdminLimits.entries.upperBound {
            throw ValidationError(
                "--limit: a search that is sorted, or of one moment, has at most \(AdminLimits.entries.upperBound)")
        }
    }

    func run(_ admin: AdminClient) async throws {
        if snapshot || wanted.isOfSeveral { return try await printSnapshot(admin) }
        var left = limit ?? .max
        var after: String?
        repeat {
            let page = try await admin.documents(
                of: wanted.app, wanted.query + selection.items, sort: sort?.text, fields: fields,
                limit: min(left, AdminLimits.entries.upperBound), after: after,
                canonical: form.canonical)
            for document in page.documents { Printing.document(document, form) }
            left -= page.documents.count
            after = page.next
        } while left > 0 && after != nil
        if sort != nil, limit == nil, Int.max - left == AdminLimits.entries.upperBound {
            Printing.note(
                "a sorted search prints the first \(AdminLimits.entries.upperBound) documents; there may be more")
        }
    }

    private func printSnapshot(_ admin: AdminClient) async throws {
        // The first coordinator that answers is asked.
        let _: AppDocument = try await admin.ask(AdminRoute.app.path(wanted.app))
        let query: [(AdminQuery, String?)] =
            wanted.query + selection.items + [
                (.sort, sort?.text), (.fields, fields), (.limit, limit.map { "\($0)" }),
                (.canonical, form.canonical ? "true" : nil),
            ]
        var realm = "{}"
        try await admin.follow(AdminRoute.documentStream.path(wanted.app, query: query)) { event in
            switch event.name {
            case "document":
                let text = String(decoding: event.data, as: UTF8.self)
                Printing.line(wanted.isOfSeveral ? #"{"realm":\#(realm),"document":\#(text)}"# : text)
                return true
            case "realm":
                let heading = try? ExtendedJSONParser.parse(event.data).document
                realm = heading?["realm"].map { ExtendedJSONWriter.text(of: $0) } ?? "{}"
                return true
            case "error":
                let problem = try? ExtendedJSONParser.parse(event.data).document
                let message = problem?["message"]?.string?.string ?? "the search ended"
                throw CommandFailure(problem?["error"]?.string == "too_slow" ? .tryAgain : .badInput, message)
            default: return false
            }
        }
    }
}

struct DocumentsCount: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "count", abstract: "Count documents.",
        discussion: """
            Several --partition, or --all-partitions, are counted together, each as it is at one moment; this holds \
            for distinct and aggregate, too.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentRealmsOptions
    @OptionGroup var selection: DocumentSelection

    func run(_ admin: AdminClient) async throws {
        let answer = try await admin.document(
            AdminRoute.documentCount.path(wanted.app, query: wanted.answerQuery + selection.items),
            timeout: AdminClient.searchTimeout)
        let count = answer["count"]?.integer ?? 0
        struct Count: Encodable {
            var count: Int64
            /// How many realms have the class, of a search of several.
            var realms: Int64?
        }
        try output.show(Count(count: count, realms: answer["realms"]?.integer), "\(count)")
    }
}

struct DocumentsDistinct: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "distinct", abstract: "Print the values that a field has, each once, one a line.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentRealmsOptions
    @OptionGroup var form: DocumentOutputOptions
    @OptionGroup var selection: DocumentSelection
    @Argument(help: "The field, such as address.city; of a list its elements count.") var field: String

    func run(_ admin: AdminClient) async throws {
        let query =
            wanted.answerQuery + selection.items + [(.field, field), (.canonical, form.canonical ? "true" : nil)]
        let answer = try await admin.document(
            AdminRoute.documentDistinct.path(wanted.app, query: query), timeout: AdminClient.searchTimeout)
        for value in answer["values"]?.array ?? [] {
            Printing.line(ExtendedJSONWriter.text(of: value, form.canonical ? .canonical : .relaxed))
        }
    }
}

struct DocumentsAggregate: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "aggregate", abstract: "Print what comes of the stages of an aggregation, one document a line.",
        discussion: """
            Stages are $match, $sort, $skip, $limit, $project, $count, and $group with $sum, $avg, $min, $max, $first and $push:

              sluice documents aggregate --app shops --partition store-nw Order \\
                  '[{"$match": {"done": true}},
                    {"$group": {"_id": "$customer", "total": {"$sum": "$price"}}},
                    {"$sort": {"total": -1}}]'
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentRealmsOptions
    @OptionGroup var form: DocumentOutputOptions
    @Option(help: "Only of what this user may read: the user's id.") var user: String?
    @Argument(help: "The stages, in an array.") var pipeline: String

    func run(_ admin: AdminClient) async throws {
        let query: [(AdminQuery, String?)] =
            wanted.answerQuery + [
                (.pipeline, pipeline), (.user, user), (.canonical, form.canonical ? "true" : nil),
            ]
        let answer = try await admin.document(
            AdminRoute.documentAggregate.path(wanted.app, query: query), timeout: AdminClient.searchTimeout)
        for document in answer["documents"]?.array?.compactMap(\.document) ?? [] { Printing.document(document, form) }
    }
}

struct DocumentsExplain: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Say how a search would go about it, without searching.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var selection: DocumentSelection
    @Option(help: "The stages of an aggregation, in the filter's place.") var pipeline: String?

    func run(_ admin: AdminClient) async throws {
        let query = wanted.query + selection.items + [(.pipeline, pipeline)]
        let answer = try await admin.document(AdminRoute.documentExplanation.path(wanted.app, query: query))
        if output.json { return Printing.line(ExtendedJSONWriter.text(of: .document(answer))) }
        let examined = answer["examined"]?.integer ?? 0
        let objects = answer["objects"]?.integer ?? 0
        let index = answer["index"]?.string?.string ?? ""
        let way =
            switch answer["way"]?.string {
            case "key": "by primary key: at most \(examined) objects"
            case "index": "by the index of \(index): about \(examined) of \(objects) objects"
            default: "without an index: all \(objects) objects of the class"
            }
        Printing.line("query    \(answer["query"]?.string?.string ?? "")")
        Printing.line("found    \(way)")
        func names(_ key: ByteString) -> String {
            let names = answer[key]?.array?.compactMap { $0.string?.string } ?? []
            return names.isEmpty ? "-" : names.joined(separator: ", ")
        }
        Printing.line("indexes  \(names("indexed"))")
        guard selection.user != nil else { return }
        Printing.line("role     \(answer["role"]?.string?.string ?? "none, or all of the partition")")
        Printing.line("hidden   \(names("hidden"))")
    }
}

/// Documents of one answer.
struct DocumentPage {
    var documents: [BSONDocument]
    /// Where the next page goes on; nil at the end.
    var next: String?
}

extension AdminClient {
    /// How long a search may be waited for that is not cut into pages: longer than the coordinator goes on with one.
    static let searchTimeout = TimeAmount.seconds(90)

    /// - Parameter selection: names the realm and the class, and what is selected.
    func documents(
        of app: String, _ selection: [(AdminQuery, String?)], id: BSONValue? = nil, sort: String? = nil,
        fields: String? = nil, limit: Int, after: String? = nil, canonical: Bool
    ) async throws -> DocumentPage {
        let query: [(AdminQuery, String?)] = [
            (.id, id.map { ExtendedJSONWriter.text(of: $0, .canonical) }), (.sort, sort),
            (.fields, fields), (.limit, "\(limit)"), (.after, after),
            (.canonical, canonical ? "true" : nil),
        ]
        let answer = try await document(AdminRoute.documents.path(app, query: selection + query))
        return DocumentPage(
            documents: answer["documents"]?.array?.compactMap(\.document) ?? [], next: answer["next"]?.string?.string)
    }
}

extension Printing {
    static func document(_ document: BSONDocument, _ form: DocumentOutputOptions) {
        line(ExtendedJSONWriter.text(of: .document(document), form.canonical ? .canonical : .relaxed))
    }
}
