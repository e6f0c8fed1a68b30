import AdminAPI
import ArgumentParser
import Changesets
import Documents
import ExtendedJSON
import Foundation
import NIOHTTP1

/// Options of a command that writes documents.
struct DocumentWriteOptions: ParsableArguments {
    @Option(help: "An id of the write: the same write with the same id is done once. Random by default.") var id:
        String?
    @Option(help: "Only if this user may write it, by the rules in force: the user's id.") var user: String?
}

/// A command that writes one document of a class.
protocol DocumentWriteCommand: AdminCommand {
    var wanted: DocumentClassOptions { get }
    var options: DocumentWriteOptions { get }
    var write: BSONDocument { get }
    /// What the write is to have found; nil if nothing need be there.
    var target: BSONValue? { get }
}

extension DocumentWriteCommand {
    var target: BSONValue? { nil }

    func run(_ admin: AdminClient) async throws {
        let answer = try await admin.write(
            [.document(write)], app: wanted.app, partition: wanted.partition, id: options.id,
            user: options.user)
        let result = answer["results"]?.array?.first?.document
        let isRepetition = answer["isRepetition"]?.bool ?? false
        if let target, !isRepetition, result?["matched"]?.integer ?? 0 == 0 {
            throw CommandFailure(
                .notFound,
                "there is no \(wanted.className) \(ExtendedJSONWriter.text(of: target)) in the realm: nothing was written"
            )
        }
        Printing.declared(answer)
        if output.json { return Printing.line(ExtendedJSONWriter.text(of: .document(answer))) }
        let version = answer["version"].map { ExtendedJSONWriter.text(of: $0) } ?? "?"
        if isRepetition { return Printing.line("written before; the realm is at version \(version)") }
        let what = result?["modified"]?.integer == 0 && result?["inserted"] == nil ? "unchanged: " : ""
        let inserted = result?["inserted"].map { " as \(ExtendedJSONWriter.text(of: $0))" } ?? ""
        Printing.line("\(what)integrated as version \(version)\(inserted)")
    }
}

struct DocumentsInsert: DocumentWriteCommand {
    static let configuration = CommandConfiguration(
        commandName: "insert", abstract: "Make an object. One with the same primary key must not be there.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var options: DocumentWriteOptions
    @Argument(help: "The document.") var document: DocumentText

    var write: BSONDocument {
        ["insert": BSONValue(wanted.className), "document": .document(document.document)]
    }
}

struct DocumentsPut: DocumentWriteCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Make an object, or set those of its properties that the document has.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var options: DocumentWriteOptions
    @Argument(help: "The document, with its primary key.") var document: DocumentText

    var write: BSONDocument {
        ["upsert": BSONValue(wanted.className), "document": .document(document.document)]
    }
}

struct DocumentsUpdate: DocumentWriteCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change properties of an object.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var options: DocumentWriteOptions
    @Argument(help: "The primary key.") var id: DocumentKey
    @Option(help: "Properties to set, such as {\"title\": \"x\", \"address.city\": \"Rome\"}.")
    var values: DocumentText?
    @Option(help: "Operators to apply, such as {\"$inc\": {\"count\": 1}, \"$push\": {\"tags\": \"new\"}}.")
    var apply: DocumentText?
    @Option(help: "Only if the object is as this filter says.") var onlyIf: DocumentText?

    func validate() throws {
        guard (values == nil) != (apply == nil) else { throw ValidationError("give either --values or --apply") }
    }

    var target: BSONValue? { id.value }

    var write: BSONDocument {
        var write: BSONDocument = ["update": BSONValue(wanted.className), "id": id.value]
        write["set"] = values.map { .document($0.document) }
        write["apply"] = apply.map { .document($0.document) }
        write["onlyIf"] = onlyIf.map { .document($0.document) }
        return write
    }
}

struct DocumentsDelete: DocumentWriteCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an object. Links to it stay and lead nowhere.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @OptionGroup var options: DocumentWriteOptions
    @Argument(help: "The primary key.") var id: DocumentKey
    @Option(help: "Only if the object is as this filter says.") var onlyIf: DocumentText?

    var target: BSONValue? { id.value }

    var write: BSONDocument {
        var write: BSONDocument = ["delete": BSONValue(wanted.className), "id": id.value]
        write["onlyIf"] = onlyIf.map { .document($0.document) }
        return write
    }
}

struct DocumentsWrite: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Do several writes as one version, all of them or none.",
        discussion: """
            Writes are read from a file or, with -, from standard input, one a line:

              {"insert": "Task", "document": {"_id": 7, "title": "buy milk"}}
              {"update": "Task", "id": 8, "apply": {"$inc": {"count": 1}}}
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var options: DocumentWriteOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The partition value; left out for an app in flexible mode.") var partition: String?
    @Option(help: "The property of the documents that says their partition, instead of --partition.")
    var partitionKey: String?
    @Option(name: .shortAndLong, help: "The file of the writes; - is standard input.") var file: String
    @Option(help: "Only if the realm is at this version.") var ifVersion: UInt64?
    @Flag(help: "Do not ask before all objects of a class are deleted.") var yes = false

    func run(_ admin: AdminClient) async throws {
        var writes: [BSONValue] = []
        var lines = try EventLines(file: file)
        while let line = try await lines.next() {
            do throws(ExtendedJSONError) {
                writes.append(try ExtendedJSONParser.parse(Array(line.text.utf8)))
            } catch {
                throw CommandFailure(.badInput, "line \(line.number): \(error)")
            }
        }
        if !yes, let emptied = (try? WriteBatch(writes: .array(writes)))?.emptiedClass {
            let words = "deleting all objects of class \(emptied) in a realm of app \(app)"
            guard file != "-" else { throw CommandFailure(.badInput, "\(words) cannot be undone: add --yes") }
            try ConfirmationOptions.require(typed: app, words)
        }
        let answer = try await admin.write(
            writes, app: app, partition: partition, partitionKey: partitionKey, id: options.id, ifVersion: ifVersion,
            user: options.user)
        Printing.declared(answer)
        if output.json { return Printing.line(ExtendedJSONWriter.text(of: .document(answer))) }
        let version = answer["version"].map { ExtendedJSONWriter.text(of: $0) } ?? "?"
        Printing.line("\(writes.count) writes integrated as version \(version)")
    }
}

extension Printing {
    /// Says what documents that were written have added to the schema.
    static func declared(_ answer: BSONDocument) {
        declared(answer["declared"]?.array?.compactMap { $0.string?.string } ?? [])
    }

    static func declared(_ elements: [String]) {
        if !elements.isEmpty { note("made as the documents suggest: \(elements.joined(separator: ", "))") }
    }
}

extension AdminClient {
    /// Writes documents: all of the writes as one version, or none.
    ///
    /// - Throws: `RefusedWrite` if one of them is at fault.
    @discardableResult func write(
        _ writes: [BSONValue], app: String, partition: String?, partitionKey: String? = nil, id: String? = nil,
        ifVersion: UInt64? = nil,
        user: String? = nil
    ) async throws -> BSONDocument {
        var body: BSONDocument = ["writes": .array(writes)]
        body["partition"] = partition.map { BSONValue($0) }
        body["partitionKey"] = partitionKey.map { BSONValue($0) }
        body["id"] = id.map { BSONValue($0) }
        body["user"] = user.map { BSONValue($0) }
        body["onlyIf"] = ifVersion.map { ["version": BSONValue(Int64(clamping: $0))] }
        return try await document(
            AdminRoute.documents.path(app), .POST, body: ExtendedJSONWriter.bytes(of: .document(body)))
    }
}
