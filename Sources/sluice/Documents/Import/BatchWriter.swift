import AdminAPI
import Changesets
import ExtendedJSON
import NIOHTTP1
import SyncModel

/// A document that waits to be written.
struct WaitingDocument: Sendable {
    /// The document's number in its file, and its place there, for people.
    var number: Int
    var place: String
    var className: ByteString
    /// The primary key: two documents of one key are written in their order. Nil of a document that has none.
    var key: BSONValue?
    /// The document as JSON.
    var json: [UInt8]
}

/// Writes the documents of one batch. Where some are refused, in smaller parts: a part is written as a whole, or not.
struct BatchWriter: Sendable {
    /// The fate of a batch.
    struct Outcome: Sendable {
        var written = 0
        var rejected: [(document: WaitingDocument, reason: String)] = []
        /// Why the rest of the batch was not tried.
        var failure: (any Error)?
        /// How many documents may be written at once next.
        var size: Int
    }

    let admin: AdminClient
    let app: String
    let mode: ImportMode
    /// Names the batch's writes, so that none is done twice; nil where nothing goes on.
    let run: String?
    /// Whether the import ends at the first document that is refused.
    let endsAtReject: Bool

    /// - Parameter size: how many documents are written at once, to begin with.
    func write(_ documents: [WaitingDocument], to partition: String?, size: Int, most: Int) async -> Outcome {
        var outcome = Outcome(size: size)
        var left = documents[...]
        while let first = left.first {
            let part = left.prefix(outcome.size)
            do {
                let answer = try await admin.document(
                    AdminRoute.documents.path(app), .POST,
                    body: body(part, partition, id: run.map { "\($0) \(first.number) \(part.count)" }))
                Printing.declared(answer)
                outcome.written += part.count
                left = left.dropFirst(part.count)
                outcome.size = min(outcome.size * 2, most)
            } catch let refusal as RefusedWrite {
                let index = left.startIndex + refusal.write
                guard part.indices.contains(index) else {
                    outcome.failure = refusal.failure
                    return outcome
                }
                outcome.rejected.append((left[index], refusal.failure.message))
                if endsAtReject { return outcome }
                left.remove(at: index)
                outcome.size = max(outcome.size / 4, 1)
            } catch {
                outcome.failure = error
                return outcome
            }
        }
        return outcome
    }

    private func body(_ documents: ArraySlice<WaitingDocument>, _ partition: String?, id: String?) -> [UInt8] {
        var head: BSONDocument = [:]
        head["partition"] = partition.map { BSONValue($0) }
        head["id"] = id.map { BSONValue($0) }
        var bytes = ExtendedJSONWriter.bytes(of: .document(head))
        bytes.reserveCapacity(documents.reduce(bytes.count + 32) { $0 + $1.json.count + 64 })
        bytes.removeLast()
        if !head.isEmpty { bytes.append(UInt8(ascii: ",")) }
        bytes += "\"writes\":[".utf8
        let verb = mode == .insertOnly ? "insert" : "upsert"
        for (position, document) in documents.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += "{\"\(verb)\":".utf8
            document.className.withUnsafeBytes { JSONText.append(quoted: $0, to: &bytes) }
            bytes += ",\"document\":".utf8
            bytes += document.json
            bytes.append(UInt8(ascii: "}"))
        }
        bytes += "]}".utf8
        return bytes
    }
}
