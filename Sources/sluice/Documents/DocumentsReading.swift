import AdminAPI
import ArgumentParser
import Changesets
import ExtendedJSON

struct DocumentsGet: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the document with a primary key.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var form: DocumentOutputOptions
    @Argument(help: "The primary key: a number, a word, or extended JSON such as {\"$oid\":\"...\"}.") var id:
        DocumentKey

    func run(_ admin: AdminClient) async throws {
        let page = try await admin.documents(
            wanted.chosen, id: id.value, limit: 1, canonical: form.canonical)
        guard let document = page.documents.first else {
            throw CommandFailure(
                .notFound, "there is no \(wanted.className) \(ExtendedJSONWriter.text(of: id.value)) in the realm")
        }
        Printing.document(document, form)
    }
}

struct DocumentsFind: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "find", abstract: "Print documents, one a line.",
        discussion: """
            Without --sort they come in the order in which they are stored, and all of them come unless --limit says how
            many. With --sort the first 1,000 come.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var form: DocumentOutputOptions
    @Option(help: "Only what this filter selects, such as {\"done\": false, \"priority\": {\"$gt\": 2}}.")
    var filter: DocumentText?
    @Option(help: "Sort by these properties, such as {\"priority\": -1, \"title\": 1}.") var sort: DocumentText?
    @Option(help: "Print only these properties beside the primary key, with commas between.") var fields: String?
    @Option(help: "Print at most so many.") var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit: expected at least 1") }
        if sort != nil, let limit, limit > AdminLimits.entries.upperBound {
            throw ValidationError("--limit: a sorted search has at most \(AdminLimits.entries.upperBound)")
        }
    }

    func run(_ admin: AdminClient) async throws {
        var left = limit ?? .max
        var after: String?
        repeat {
            let page = try await admin.documents(
                wanted.chosen, filter: filter?.text, sort: sort?.text, fields: fields,
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
}

struct DocumentsCount: AdminCommand {
    static let configuration = CommandConfiguration(commandName: "count", abstract: "Count documents.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @Option(help: "Only what this filter selects.") var filter: DocumentText?

    func run(_ admin: AdminClient) async throws {
        let answer = try await admin.document(
            AdminRoute.documentCount.path(wanted.app, query: wanted.chosen.query + [(.filter, filter?.text)]))
        let count = answer["count"]?.integer ?? 0
        struct Count: Encodable { var count: Int64 }
        try output.show(Count(count: count), "\(count)")
    }
}

/// Documents of one answer.
struct DocumentPage {
    var documents: [BSONDocument]
    /// Where the next page goes on; nil at the end.
    var next: String?
}

extension AdminClient {
    func documents(
        _ wanted: RealmClass, id: BSONValue? = nil, filter: String? = nil, sort: String? = nil,
        fields: String? = nil, limit: Int, after: String? = nil, canonical: Bool
    ) async throws -> DocumentPage {
        let query: [(AdminQuery, String?)] = [
            (.id, id.map { ExtendedJSONWriter.text(of: $0, .canonical) }), (.filter, filter), (.sort, sort),
            (.fields, fields), (.limit, "\(limit)"), (.after, after),
            (.canonical, canonical ? "true" : nil),
        ]
        let answer = try await document(AdminRoute.documents.path(wanted.app, query: wanted.query + query))
        return DocumentPage(
            documents: answer["documents"]?.array?.compactMap(\.document) ?? [], next: answer["next"]?.string?.string)
    }
}

extension Printing {
    static func document(_ document: BSONDocument, _ form: DocumentOutputOptions) {
        line(ExtendedJSONWriter.text(of: .document(document), form.canonical ? .canonical : .relaxed))
    }
}
