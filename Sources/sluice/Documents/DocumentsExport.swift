import AdminAPI
import ArgumentParser
import Documents
import ExtendedJSON
import Foundation
import SyncModel

struct DocumentsExport: AdminCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case json
        case bson
    }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a realm's documents to files, one for each class.",
        discussion: """
            The files hold canonical Extended JSON, one document a line, or BSON as mongodump has it; `documents \
            import` and mongorestore read them. Each page of documents is read as it is then: while devices write, a \
            file is no picture of one moment.

              sluice documents export --app tasks --to dump
            """)
    @OptionGroup var common: ReportOptions
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The partition value, of an app in partition mode: a word, or extended JSON.") var partition: String?
    @Option(name: .customLong("class"), help: "Only these classes; else all that have objects of their own.")
    var classes: [String] = []
    @Option(help: "The folder, which is made if it is not there.") var to: String
    @Option(help: "\(Format.allCases.map(\.rawValue).joined(separator: " or ")).") var format = Format.json

    private struct Exported: Encodable {
        var name: String
        var documents: Int
        var file: String
    }

    func run(_ admin: AdminClient) async throws {
        let schema: SchemaDocument = try await admin.ask(AdminRoute.schema.path(app))
        // Embedded objects stand in those that hold them.
        let known = schema.classes.filter { $0.type.hasPrefix("object") }.map(\.name)
        if let stranger = classes.first(where: { !known.contains($0) }) {
            throw CommandFailure(.notFound, "app \(app) has no class \(stranger) with objects of its own")
        }
        do {
            try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure(.badInput, "--to: cannot make \(to): \(error.localizedDescription)")
        }
        var all: [Exported] = []
        for name in classes.isEmpty ? known : classes {
            let file = "\(to)/\(ClassFile.name(ofClass: name)).\(format == .bson ? "bson" : "ndjson")"
            all.append(Exported(name: name, documents: try await export(name, to: file, admin), file: file))
        }
        try output.show(all, all.map { "\($0.file): \($0.documents.counted("document"))" }.joined(separator: "\n"))
    }

    /// - Returns: how many documents there are.
    private func export(_ name: String, to path: String, _ admin: AdminClient) async throws -> Int {
        // Under another name until it is whole, so that no part is taken for all.
        let unfinished = path + ".part"
        guard FileManager.default.createFile(atPath: unfinished, contents: nil),
            let file = FileHandle(forWritingAtPath: unfinished)
        else { throw CommandFailure(.badInput, "--to: cannot write \(unfinished)") }
        defer { try? file.close() }
        var count = 0
        var told = ContinuousClock.now
        var after: String?
        repeat {
            let page = try await admin.documents(
                of: app, [(.partition, partition), (.className, name)], limit: AdminLimits.entries.upperBound,
                after: after, canonical: true)
            for document in page.documents { try file.write(contentsOf: try encoded(document)) }
            count += page.documents.count
            after = page.next
            if told.duration(to: .now) >= .seconds(5) {
                told = .now
                Printing.note("\(name): \(count.counted("document"))")
            }
        } while after != nil
        try file.close()
        try FileManager.default.replaceItem(at: path, by: unfinished)
        return count
    }

    private func encoded(_ document: BSONDocument) throws -> Data {
        switch format {
        case .bson: Data(try BSONWriter.bytes(of: document))
        case .json: Data(ExtendedJSONWriter.bytes(of: .document(document), .canonical) + [0x0A])
        }
    }
}

extension FileManager {
    fileprivate func replaceItem(at path: String, by other: String) throws {
        try? removeItem(atPath: path)
        try moveItem(atPath: other, toPath: path)
    }
}
