import AdminAPI
import Changesets
import Documents
import ExtendedJSON
import Foundation
import SyncModel

/// Where documents that are imported go.
struct ImportTarget {
    var app: String
    /// Nil for an app in flexible mode, and where each document says its own.
    var partition: String?
    var partitionKey: String?
    var mode: ImportMode

    /// What the target is called where an import goes on.
    func text(ofClass className: String?) -> String {
        var text = "app \(app)"
        if let partition { text += ", partition \(partition)" }
        if let partitionKey { text += ", partitions by \(partitionKey)" }
        if let className { text += ", class \(className)" }
        return text
    }

    /// The partition of a document, as the admin API takes it, and the document as it is written.
    ///
    /// - Throws: the reason why the document goes nowhere.
    func placed(_ document: BSONDocument, of className: String, _ schema: ImportSchema) throws(ImportMisfit)
        -> (partition: String?, document: BSONDocument)
    {
        guard let partitionKey else { return (partition, document) }
        let key = ByteString(partitionKey)
        guard let value = document[key] else {
            throw ImportMisfit(reason: "it has no \(partitionKey), which says its partition")
        }
        var document = document
        // Partition sync has the value in the realm's name, and many an app has no property for it.
        if schema.has(className), schema.type(of: partitionKey, in: className) == nil { document[key] = nil }
        // An integer of a partition has 64 bits, whatever the file has.
        let partition = value.integer.map { BSONValue.int64($0) } ?? value
        return (ExtendedJSONWriter.text(of: partition, .canonical), document)
    }
}

/// Why a document is not imported.
struct ImportMisfit: Error {
    var reason: String
}

/// Writes documents in batches of bounded size, one realm's each, and tells how far it is.
struct DocumentImporter {
    struct Totals: Encodable {
        var written: Int
        var rejected: Int
        var seconds: Int
    }

    /// The documents that wait to be written to one realm.
    private struct Batch {
        var documents: [WaitingDocument] = []
        var bytes = 0
    }

    /// A batch that is being written.
    private struct Flight {
        var keys: Set<Key>
        var count: Int
        var bytes: Int
        /// How many documents of the file are dealt with once this batch and those before it are written; nil where others wait meanwhile.
        var place: Int?
        var outcome: Task<BatchWriter.Outcome, Never>
    }

    private struct Key: Hashable {
        var partition: String?
        var className: ByteString
        var value: BSONValue
    }

    /// The batches that are written at once: while one is made, another is sent, and another is written by the realm's owner.
    private static let flights = 4
    /// The most documents, and about the most bytes, of one batch: one version of the realm.
    private static let batchCount = 500
    private static let batchBytes = 1 << 20
    /// The most bytes of one document, with which a request is as large as the coordinator takes.
    private static let documentBytes = AdminLimits.documentsBody - (64 << 10)
    /// The most documents and bytes that wait, of all realms.
    private static let waitingCount = 20_000
    private static let waitingBytes = 16 << 20

    private let admin: AdminClient
    private let target: ImportTarget
    private let schema: ImportSchema
    private let rejects: FileHandle?
    private let resume: String?
    private var progress: ImportProgress
    private var batches: [String?: Batch] = [:]
    /// The batches that are being written, in the order in which they were begun.
    private var flying: [Flight] = []
    /// The documents that wait or are being written, and their bytes.
    private var waitingCount = 0
    private var waitingBytes = 0
    /// How many documents are written at once.
    private var size = DocumentImporter.batchCount
    /// The file that is read, what is known of it, and how many of its documents have come.
    private var path = ""
    private var source = ImportProgress.Source(number: 0)
    private var place = 0
    private var pace: ImportPace
    private let before: Int

    /// - Parameters:
    ///   - rejects: the path of the file of rejects, which is made anew, unless an import goes on.
    ///   - resume: the path of the file that keeps how far the import is.
    init(
        admin: AdminClient, target: ImportTarget, className: String?, schema: ImportSchema, rejects: String?,
        resume: String?, paths: [String]
    ) throws {
        self.admin = admin
        self.target = target
        self.schema = schema
        self.resume = resume
        let text = target.text(ofClass: className)
        progress = try resume.map { try ImportProgress.read($0, target: text) } ?? ImportProgress(target: text)
        before = progress.written
        pace = ImportPace(paths: paths)
        let goesOn = progress.rejected > 0
        self.rejects = try rejects.map { try Self.rejectsFile($0, goesOn: goesOn) }
    }

    private static func rejectsFile(_ path: String, goesOn: Bool) throws -> FileHandle {
        let isThere = goesOn && FileManager.default.fileExists(atPath: path)
        guard isThere || FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw CommandFailure(.badInput, "--rejects: cannot write \(path)") }
        try handle.seekToEnd()
        return handle
    }

    /// How many documents are written, by the import that broke off, too.
    var written: Int { progress.written }

    /// Begins a file.
    mutating func begin(_ path: String) throws {
        self.path = path
        place = 0
        source = progress[path]
        // Before anything is written: the file keeps its number.
        progress[path] = source
        if let resume { try progress.write(resume) }
    }

    mutating func add(_ found: SourceDocument, of className: String, bytesRead: Int) async throws {
        place += 1
        guard place > source.done else { return }
        do { try await take(found, of: className) } catch let end as ImportEnd {
            await settle()
            throw end.failure(written: progress.written)
        }
        pace.tell(written: progress.written - before, bytesRead: bytesRead)
    }

    private mutating func take(_ found: SourceDocument, of className: String) async throws {
        switch found.content {
        case .failure(let problem): try reject(found.place, problem.text, problem.reason)
        case .success(let document):
            let waiting: (partition: String?, document: BSONDocument)
            do throws(ImportMisfit) {
                waiting = try target.placed(document, of: className, schema)
            } catch {
                try reject(found.place, ExtendedJSONWriter.text(of: .document(document), .canonical), error.reason)
                return
            }
            let json = ExtendedJSONWriter.bytes(of: .document(waiting.document))
            guard json.count <= Self.documentBytes else {
                let text = ExtendedJSONWriter.text(of: .document(document), .canonical)
                return try reject(
                    found.place, text, "expected a document of at most \(Self.documentBytes) bytes, came \(json.count)")
            }
            if let batch = batches[waiting.partition], batch.bytes + json.count > Self.batchBytes {
                try await begin(batch, of: waiting.partition, through: place - 1)
            }
            batches[waiting.partition, default: Batch()].documents.append(
                WaitingDocument(
                    number: place, place: found.place, className: ByteString(className),
                    key: waiting.document[schema.primaryKey(of: className)], json: json))
            batches[waiting.partition]?.bytes += json.count
            waitingCount += 1
            waitingBytes += json.count
            try await writeWhatIsFull(waiting.partition)
        }
    }

    /// Ends a file: everything of it is written.
    mutating func end(bytesRead: Int) async throws {
        try await writeAll()
        pace.passed(bytesRead)
    }

    mutating func finish() throws -> Totals {
        try rejects?.close()
        return Totals(written: progress.written, rejected: progress.rejected, seconds: pace.seconds)
    }

    // MARK: Writing

    private mutating func writeWhatIsFull(_ partition: String?) async throws {
        if waitingCount >= Self.waitingCount || waitingBytes >= Self.waitingBytes { return try await writeAll() }
        guard let batch = batches[partition],
            batch.documents.count >= Self.batchCount || batch.bytes >= Self.batchBytes
        else { return }
        try await begin(batch, of: partition, through: place)
    }

    /// Begins to write what waits for one realm.
    ///
    /// - Parameter last: the number of the last document that waits, or waited, for any realm.
    private mutating func begin(_ batch: Batch, of partition: String?, through last: Int) async throws {
        let keys = Set(
            batch.documents.compactMap { document in
                document.key.map { Key(partition: partition, className: document.className, value: $0) }
            })
        // Two documents of one key are written in their order.
        while flying.count >= Self.flights || flying.contains(where: { !$0.keys.isDisjoint(with: keys) }) {
            try await land()
        }
        batches[partition] = nil
        let writer = BatchWriter(
            admin: admin, app: target.app, mode: target.mode,
            run: resume.map { _ in "import \(progress.run) \(source.number)" }, endsAtReject: rejects == nil)
        let size = size
        flying.append(
            Flight(
                keys: keys, count: batch.documents.count, bytes: batch.bytes, place: batches.isEmpty ? last : nil,
                outcome: Task { await writer.write(batch.documents, to: partition, size: size, most: Self.batchCount) })
        )
    }

    /// Waits for the batch that was begun first, and takes in what has become of it.
    private mutating func land() async throws {
        let flight = flying.removeFirst()
        let outcome = await flight.outcome.value
        waitingCount -= flight.count
        waitingBytes -= flight.bytes
        progress.written += outcome.written
        size = outcome.size
        do {
            for (document, reason) in outcome.rejected {
                // The file of rejects has all documents in the canonical form.
                let text = (try? ExtendedJSONParser.parse(document.json)).map {
                    ExtendedJSONWriter.text(of: $0, .canonical)
                }
                try reject(document.place, text ?? String(decoding: document.json, as: UTF8.self), reason)
            }
            if let failure = outcome.failure { throw failure }
        } catch {
            // Batches on their way are written all the same, and count.
            await settle()
            guard let failure = error as? ImportEnd else { throw error }
            throw failure.failure(written: progress.written)
        }
        if let place = flight.place { try keep(place) }
    }

    /// Waits for all that is on its way, after an error: only what is written counts.
    mutating func settle() async {
        while !flying.isEmpty { progress.written += await flying.removeFirst().outcome.value.written }
    }

    private mutating func writeAll() async throws {
        for (partition, batch) in batches { try await begin(batch, of: partition, through: place) }
        while !flying.isEmpty { try await land() }
        try keep(place)
    }

    /// Notes that so many documents of the file are dealt with.
    private mutating func keep(_ count: Int) throws {
        // The import that broke off may have come further.
        source.done = max(count, source.done)
        progress[path] = source
        if let resume { try progress.write(resume) }
    }

    private mutating func reject(_ place: String, _ text: String, _ reason: String) throws {
        guard let rejects else { throw ImportEnd(path: path, place: place, reason: reason) }
        progress.rejected += 1
        let reject: BSONDocument = [
            "file": BSONValue(path), "place": BSONValue(place), "reason": BSONValue(reason),
            "document": BSONValue(text),
        ]
        try rejects.write(contentsOf: Data((ExtendedJSONWriter.text(of: .document(reject)) + "\n").utf8))
    }
}

/// A document at which an import ends.
private struct ImportEnd: Error {
    var path: String
    var place: String
    var reason: String

    func failure(written: Int) -> CommandFailure {
        CommandFailure(
            .badInput,
            "\(path), \(place): \(reason); \(written.counted("document is", "documents are")) written. With --rejects FILE others go on"
        )
    }
}

/// How fast an import is, said every few seconds.
struct ImportPace {
    private let start = ContinuousClock.now
    private var told = ContinuousClock.now
    /// The bytes of all files; nil where that is not known.
    private let total: Int?
    /// The bytes of the files that are behind.
    private var behind = 0

    init(paths: [String]) {
        var total = 0
        for path in paths {
            guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int else {
                self.total = nil
                return
            }
            total += size
        }
        self.total = total
    }

    var seconds: Int { Int(start.duration(to: .now).components.seconds) }

    mutating func passed(_ bytes: Int) { behind += bytes }

    mutating func tell(written: Int, bytesRead: Int) {
        guard told.duration(to: .now) >= .seconds(5) else { return }
        told = .now
        let seconds = max(1, self.seconds)
        var line = "\(written.counted("document")) written, \(written / seconds) a second"
        let read = behind + bytesRead
        if let total, total > 0, read > 0 {
            line += ", \(read * 100 / total) % read, about \(max(0, total - read) / max(1, read / seconds)) s left"
        }
        Printing.note(line)
    }
}
