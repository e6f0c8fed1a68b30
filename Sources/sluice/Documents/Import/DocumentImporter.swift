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

    private struct Waiting {
        /// The document's number in its file.
        var number: Int
        var place: String
        var className: ByteString
        var document: BSONDocument
    }

    /// The documents that wait to be written to one realm.
    private struct Batch {
        var documents: [Waiting] = []
        var bytes = 0
    }

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
            let name = ByteString(className)
            let bytes = ExtendedJSONWriter.bytes(of: .document(waiting.document)).count
            guard bytes <= Self.documentBytes else {
                let text = ExtendedJSONWriter.text(of: .document(document), .canonical)
                return try reject(
                    found.place, text, "expected a document of at most \(Self.documentBytes) bytes, came \(bytes)")
            }
            if let batch = batches[waiting.partition], batch.bytes + bytes > Self.batchBytes {
                try await write(batch, of: waiting.partition)
            }
            batches[waiting.partition, default: Batch()].documents.append(
                Waiting(number: place, place: found.place, className: name, document: waiting.document))
            batches[waiting.partition]?.bytes += bytes
            waitingCount += 1
            waitingBytes += bytes
            try await writeWhatIsFull(waiting.partition)
        }
        pace.tell(written: progress.written - before, bytesRead: bytesRead)
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
        try await write(batch, of: partition)
        // With one realm every batch is a place from which an import can go on.
        if batches.isEmpty { try keep(place) }
    }

    /// Writes what waits for one realm.
    private mutating func write(_ batch: Batch, of partition: String?) async throws {
        try await write(batch, to: partition)
        batches[partition] = nil
        waitingCount -= batch.documents.count
        waitingBytes -= batch.bytes
    }

    private mutating func writeAll() async throws {
        for (partition, batch) in batches { try await write(batch, of: partition) }
        try keep(place)
    }

    /// Notes that so many documents of the file are dealt with.
    private mutating func keep(_ count: Int) throws {
        // The import that broke off may have come further.
        source.done = max(count, source.done)
        progress[path] = source
        if let resume { try progress.write(resume) }
    }

    /// Writes a realm's documents. Where some are refused, in smaller parts: a part is written as a whole, or not.
    private mutating func write(_ batch: Batch, to partition: String?) async throws {
        var left = batch.documents[...]
        while let first = left.first {
            let part = left.prefix(size)
            do {
                let answer = try await admin.write(
                    part.map { write($0) }, app: target.app, partition: partition,
                    id: resume.map { _ in "import \(progress.run) \(source.number) \(first.number) \(part.count)" })
                Printing.declared(answer)
                progress.written += part.count
                left = left.dropFirst(part.count)
                size = min(size * 2, Self.batchCount)
            } catch let refusal as RefusedWrite {
                let index = left.startIndex + refusal.write
                guard part.indices.contains(index) else { throw refusal.failure }
                let refused = left[index]
                try reject(
                    refused.place, ExtendedJSONWriter.text(of: .document(refused.document), .canonical),
                    refusal.failure.message)
                left.remove(at: index)
                size = max(size / 4, 1)
            }
        }
    }

    private func write(_ waiting: Waiting) -> BSONValue {
        let verb: ByteString = target.mode == .insertOnly ? "insert" : "upsert"
        return .document([verb: .string(waiting.className), "document": .document(waiting.document)])
    }

    private mutating func reject(_ place: String, _ text: String, _ reason: String) throws {
        guard let rejects else {
            throw CommandFailure(
                .badInput,
                "\(path), \(place): \(reason); \(progress.written.counted("document is", "documents are")) written. With --rejects FILE others go on"
            )
        }
        progress.rejected += 1
        let reject: BSONDocument = [
            "file": BSONValue(path), "place": BSONValue(place), "reason": BSONValue(reason),
            "document": BSONValue(text),
        ]
        try rejects.write(contentsOf: Data((ExtendedJSONWriter.text(of: .document(reject)) + "\n").utf8))
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
