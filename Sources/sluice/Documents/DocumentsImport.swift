import AdminAPI
import ArgumentParser
import Changesets
import ExtendedJSON
import Foundation

struct DocumentsImport: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write the documents of a file, one a line, as mongoexport and `documents find` print them.",
        discussion: """
            Each document is made, or its properties are set if it is there, so that a file that broke off can be imported again. Documents
            that do not fit go to the file of --rejects with the reason, and the others go on.

              sluice documents find --app old --partition p Task > tasks.ndjson
              sluice documents import --app new --partition p Task tasks.ndjson --rejects rejects.ndjson
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: DocumentClassOptions
    @Argument(help: "The file, or - for standard input.") var file: String
    @Option(
        help: "Where documents that do not fit are written, with the reason; without it the first one ends the import.")
    var rejects: String?
    @Flag(help: "Leave documents alone that are there: only new ones are made.") var insertOnly = false
    @Flag(help: "Read the file and say what would be written; nothing is.") var dryRun = false

    func run(_ admin: AdminClient) async throws {
        var importer = try DocumentImporter(
            admin: admin, wanted: wanted, verb: insertOnly ? "insert" : "upsert", isDryRun: dryRun, rejects: rejects)
        var lines = try EventLines(file: file)
        while let line = try await lines.next() {
            try await importer.add(line)
        }
        let totals = try await importer.finish()
        let verb = dryRun ? "would be written" : "written"
        try output.show(
            totals, "\(totals.written) documents \(verb), \(totals.rejected) rejected, in \(totals.seconds) s")
    }
}

/// Writes documents in batches of bounded size, and tells how far it is.
struct DocumentImporter {
    struct Totals: Encodable {
        var written = 0
        var rejected = 0
        var seconds = 0
    }

    private struct Line {
        var number: Int
        var text: String
        var document: BSONDocument
    }

    /// The most documents, and about the most bytes, of one batch: one version of the realm.
    private static let batchCount = 500
    private static let batchBytes = 1 << 20

    private let admin: AdminClient
    private let wanted: DocumentClassOptions
    private let verb: ByteString
    private let isDryRun: Bool
    private let rejects: FileHandle?
    private var batch: [Line] = []
    private var bytes = 0
    /// How many documents are written at once.
    private var size = DocumentImporter.batchCount
    private var totals = Totals()
    private let start = ContinuousClock.now
    private var told = ContinuousClock.now

    /// - Parameter path: of the file of rejects, which is made anew.
    init(admin: AdminClient, wanted: DocumentClassOptions, verb: ByteString, isDryRun: Bool, rejects path: String?)
        throws
    {
        self.admin = admin
        self.wanted = wanted
        self.verb = verb
        self.isDryRun = isDryRun
        guard let path else {
            rejects = nil
            return
        }
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw CommandFailure(.badInput, "--rejects: cannot write \(path)") }
        rejects = handle
    }

    mutating func add(_ line: EventLine) async throws {
        do throws(ExtendedJSONError) {
            let document = try ExtendedJSONParser.parseDocument(Array(line.text.utf8))
            batch.append(Line(number: line.number, text: line.text, document: document))
            bytes += line.text.utf8.count
        } catch {
            return try reject(line.number, line.text, "\(error)")
        }
        if batch.count >= Self.batchCount || bytes >= Self.batchBytes { try await write() }
    }

    mutating func finish() async throws -> Totals {
        try await write()
        totals.seconds = Int(start.duration(to: .now).components.seconds)
        return totals
    }

    /// Writes what has been read. Where documents are refused, in smaller parts: a part is written as a whole, or not.
    private mutating func write() async throws {
        while !batch.isEmpty {
            let part = batch.prefix(size)
            let writes = part.map { line in
                BSONValue.document([verb: BSONValue(wanted.className), "document": .document(line.document)])
            }
            do {
                if !isDryRun { try await admin.write(writes, app: wanted.app, partition: wanted.partition) }
                totals.written += part.count
                batch.removeFirst(part.count)
                size = min(size * 2, Self.batchCount)
            } catch let refusal as RefusedWrite {
                guard part.indices.contains(refusal.write) else { throw refusal.failure }
                let line = batch.remove(at: refusal.write)
                size = max(size / 4, 1)
                try reject(line.number, line.text, refusal.failure.message)
            }
        }
        bytes = 0
        guard told.duration(to: .now) >= .seconds(5) else { return }
        told = .now
        let seconds = max(1, start.duration(to: .now).components.seconds)
        Printing.note("\(totals.written) documents written, \(Int64(totals.written) / seconds) a second")
    }

    private mutating func reject(_ number: Int, _ text: String, _ reason: String) throws {
        guard let rejects else {
            throw CommandFailure(
                .badInput,
                "line \(number): \(reason); \(totals.written) documents are written. With --rejects FILE others go on")
        }
        totals.rejected += 1
        let reject: BSONDocument = [
            "line": BSONValue(Int64(number)), "reason": BSONValue(reason), "document": BSONValue(text),
        ]
        try rejects.write(contentsOf: Data((ExtendedJSONWriter.text(of: .document(reject)) + "\n").utf8))
    }
}
