import AdminAPI
import ArgumentParser
import Changesets
import Documents
import ExtendedJSON
import Foundation
import SyncModel

/// What becomes of a document whose primary key is there already.
enum ImportMode: String, EnumerableFlag {
    case upsert
    case insertOnly

    static func help(for value: ImportMode) -> ArgumentHelp? {
        switch value {
        case .upsert: "Set the properties that a document has of the object that is there: the default."
        case .insertOnly: "Leave objects alone that are there: such a document is rejected."
        }
    }
}

struct DocumentsImport: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Write documents of files: of mongodump, mongoexport, rows with commas, or what `documents find` prints.",
        discussion: """
            A file has Extended JSON (one document a line, or an array), BSON, or rows whose first one names the \
            properties; or it is an archive of mongodump. Each may be packed by gzip. Of a folder all such files are \
            read, each for the class of its name. Documents that do not fit go to the file of --rejects with the \
            reason, and the others go on.

              mongodump --uri $OLD --out dump
              sluice documents import --app tasks --dry-run dump/live  # what is there
              sluice documents import --app tasks --rejects rejects.ndjson \\
                  --resume progress.json dump/live
              sluice documents import --app shops --partition-key _partition \\
                  --class Item items.bson.gz

            A column of rows may say its type, as in `age.int32()`; else it has the property's.
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The partition value, of an app in partition mode: a word, or extended JSON.") var partition: String?
    @Option(help: "The property whose value is the partition of each document, of an app in partition mode.")
    var partitionKey: String?
    @Option(name: .customLong("class"), help: "The class of the objects; else the file's name, or the collection's.")
    var className: String?
    @Option(
        help:
            "What the files are: \(ImportFormat.allCases.map(\.rawValue).joined(separator: ", ")). Else it is seen from them."
    )
    var format: ImportFormat?
    @Flag var mode = ImportMode.upsert
    @Option(
        help: "Where documents that do not fit are written, with the reason; without it the first one ends the import.")
    var rejects: String?
    @Option(help: "A file that keeps how far the import is: given again, the import goes on there.") var resume: String?
    @Flag(help: "Read the files and say what they have; nothing is written.") var dryRun = false
    @Argument(help: "Files and folders; - is standard input.") var files: [String]

    func validate() throws {
        if files.isEmpty { throw ValidationError("expected a file, a folder or -") }
        if partition != nil, partitionKey != nil { throw ValidationError("give either --partition or --partition-key") }
        if resume != nil, files.contains("-") {
            throw ValidationError("--resume: standard input cannot be read from a place on")
        }
    }

    func run(_ admin: AdminClient) async throws {
        let schema = ImportSchema(try await admin.ask(AdminRoute.schema.path(app)))
        let paths = try files.flatMap { try ImportFile.paths(at: $0) }
        if dryRun { return try await survey(paths, schema) }
        try await showNewClasses(paths, schema, admin)
        var importer = try DocumentImporter(
            admin: admin, target: ImportTarget(app: app, partition: partition, partitionKey: partitionKey, mode: mode),
            className: className, schema: schema, rejects: rejects, resume: resume, paths: paths)
        for path in paths {
            var file = try file(path, schema)
            try importer.begin(path)
            while let found = try await next(in: &file, &importer) {
                try await importer.add(found, of: try className(of: found, in: file), bytesRead: file.bytesRead)
            }
            try await importer.end(bytesRead: file.bytesRead)
        }
        let totals = try importer.finish()
        try output.show(
            totals, "\(totals.written.counted("document")) written, \(totals.rejected) rejected, in \(totals.seconds) s"
        )
    }

    /// The next document of a file; one that cannot be read on tells how far the import has come.
    private func next(
        in file: inout ImportFile, _ importer: inout DocumentImporter
    ) async throws -> SourceDocument? {
        do {
            return try await file.next()
        } catch let failure as CommandFailure {
            await importer.settle()
            let written = importer.written.counted("document is", "documents are")
            throw CommandFailure(failure.kind, "\(failure.message); \(written) written")
        }
    }

    private func file(_ path: String, _ schema: ImportSchema) throws -> ImportFile {
        try ImportFile(path: path, format: format) { name in schema.cellTypes(of: self.className ?? name ?? "") }
    }

    private func className(of document: SourceDocument, in file: ImportFile) throws -> String {
        guard let name = className ?? document.collection?.string ?? file.className else {
            throw CommandFailure(.badInput, "standard input does not say of which class its documents are: say --class")
        }
        return name
    }

    // MARK: Looking first

    /// How many documents of a new class are looked at before anything is written, and how many of one file.
    private static let lookedAtOfClass = 500
    private static let lookedAtOfFile = 20_000

    /// Shows what classes that the app's schema lacks are going to be made of, before anything is written.
    ///
    /// - Throws: `badInput` where the app makes no classes of documents, unless what does not fit is to be rejected.
    private func showNewClasses(_ paths: [String], _ schema: ImportSchema, _ admin: AdminClient) async throws {
        var surveys: [String: FieldSurvey] = [:]
        // Standard input is read once.
        for path in paths where path != "-" {
            var file = try file(path, schema)
            let only = className ?? file.className
            if let only, schema.has(only) { continue }
            var count = 0
            while count < Self.lookedAtOfFile, let found = try await file.next() {
                count += 1
                let name = try className(of: found, in: file)
                if !schema.has(name), surveys[name]?.documents ?? 0 < Self.lookedAtOfClass {
                    if case .success(let document) = found.content {
                        surveys[name, default: FieldSurvey()].add(document)
                    }
                } else if only != nil, found.collection == nil {
                    break
                }
            }
        }
        guard !surveys.isEmpty else { return }
        let app: AppDocument = try await admin.ask(AdminRoute.app.path(app))
        let text = surveys.sorted { $0.key < $1.key }.flatMap { lines(of: $0.key, $0.value, 0, schema) }
            .joined(separator: "\n")
        guard !app.developmentMode else {
            return Printing.note("classes are made of what the first documents have:\n\(text)")
        }
        let advice =
            "development mode is off: let a client or a changeset declare what is missing, or turn it on (sluice apps set \(app.id) --development-mode)"
        guard rejects == nil else {
            return Printing.note("these documents are going to be rejected, since \(advice)\n\(text)")
        }
        throw CommandFailure(.badInput, "nothing was written, since \(advice)\n\(text)")
    }

    private struct Survey: Encodable {
        struct Field: Encodable {
            var name: String
            var types: [String: Int]
            /// The type of the property that the app's schema has; absent if it has none.
            var property: String?
        }

        var name: String
        /// Whether the app's schema has the class.
        var isKnown: Bool
        var documents: Int
        var unreadable: Int
        var fields: [Field]
    }

    private func survey(_ paths: [String], _ schema: ImportSchema) async throws {
        var surveys: [String: FieldSurvey] = [:]
        var unreadable: [String: Int] = [:]
        for path in paths {
            var file = try file(path, schema)
            while let found = try await file.next() {
                let name = try className(of: found, in: file)
                switch found.content {
                case .success(let document): surveys[name, default: FieldSurvey()].add(document)
                case .failure(let problem):
                    unreadable[name, default: 0] += 1
                    if unreadable[name] == 1 { Printing.note("\(path), \(found.place): \(problem.reason)") }
                }
            }
        }
        let names = Set(surveys.keys).union(unreadable.keys).sorted()
        let all = names.map { name in
            let survey = surveys[name] ?? FieldSurvey()
            return Survey(
                name: name, isKnown: schema.has(name), documents: survey.documents, unreadable: unreadable[name] ?? 0,
                fields: survey.fields.map { field in
                    Survey.Field(
                        name: field.name.string, types: field.types,
                        property: schema.type(of: field.name.string, in: name))
                })
        }
        let text = names.flatMap { name in
            lines(of: name, surveys[name] ?? FieldSurvey(), unreadable[name] ?? 0, schema)
        }
        try output.show(all, text.joined(separator: "\n"))
    }

    private func lines(of name: String, _ survey: FieldSurvey, _ unreadable: Int, _ schema: ImportSchema) -> [String] {
        let known = schema.has(name) ? "" : "; the app's schema has no such class"
        let broken = unreadable == 0 ? "" : ", \(unreadable) that cannot be read"
        return ["\(name): \(survey.documents.counted("document"))\(broken)\(known)"]
            + survey.fields.map { field in
                let property = schema.type(of: field.name.string, in: name).map { " -> \($0)" }
                return "  " + field.text(of: survey.documents)
                    + (property ?? (schema.has(name) ? " -> no such property" : ""))
            }
            + (survey.isCut ? ["  and more properties than can be told apart"] : [])
    }
}

/// What an app's schema says of the documents that are imported.
struct ImportSchema {
    private let classes: [String: [String: String]]
    /// The primary keys, by class.
    private let keys: [String: ByteString]

    init(_ document: SchemaDocument) {
        var classes: [String: [String: String]] = [:]
        var keys: [String: ByteString] = [:]
        for found in document.classes {
            var types = Self.primaryKey(in: found.type)
            keys[found.name] = types.keys.first.map { ByteString($0) }
            for property in found.properties { types[property.name] = property.type }
            classes[found.name] = types
        }
        self.classes = classes
        self.keys = keys
    }

    /// The primary key of a class of a type such as `object(_id: int)`.
    private static func primaryKey(in type: String) -> [String: String] {
        guard let begin = type.firstIndex(of: "("), type.last == ")" else { return [:] }
        let key = type[type.index(after: begin)...].dropLast()
        guard let colon = key.range(of: ": ", options: .backwards) else { return [:] }
        return [String(key[..<colon.lowerBound]): String(key[colon.upperBound...])]
    }

    func has(_ className: String) -> Bool { classes[className] != nil }

    /// The name of a class's primary key; that of classes that documents make, of one that is not there.
    func primaryKey(of className: String) -> ByteString { keys[className] ?? "_id" }

    /// The type of a property, such as `string?`; nil if there is none.
    func type(of property: String, in className: String) -> String? { classes[className]?[property] }

    /// The types that cells of rows have, by property.
    func cellTypes(of className: String) -> [ByteString: CSVType] {
        var types: [ByteString: CSVType] = [:]
        for (name, type) in classes[className] ?? [:] { types[ByteString(name)] = CSVType(property: type) }
        return types
    }
}
