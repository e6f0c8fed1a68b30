import ExtendedJSON

/// Documents in BSON, one behind the other: a `.bson` file of mongodump.
package struct BSONSource: DocumentSource {
    private var queue = ByteQueue()
    private var documents = 0

    package init() {}

    package mutating func add(_ bytes: [UInt8]) { queue.add(bytes) }

    package mutating func next() throws(DocumentSourceError) -> SourceDocument? {
        guard let bytes = try queue.takeDocument() else { return nil }
        documents += 1
        return SourceDocument(bson: bytes, number: documents)
    }

    package mutating func last() throws(DocumentSourceError) -> SourceDocument? {
        guard queue.count == 0 else { throw queue.cutOff }
        return nil
    }
}

extension ByteQueue {
    /// The bytes of the document at the front; nil until they are all there.
    mutating func takeDocument() throws(DocumentSourceError) -> ArraySlice<UInt8>? {
        guard let length = int32 else { return nil }
        // MongoDB lets its own documents have 16 KiB more than those of programs.
        guard length >= 5, length <= SourceLimits.documentBytes + (16 << 10) else {
            throw DocumentSourceError(
                place: "byte \(taken)",
                message:
                    "expected a BSON document of 5 to \(SourceLimits.documentBytes) bytes, came a length of \(length)")
        }
        return count >= Int(length) ? take(Int(length)) : nil
    }

    var cutOff: DocumentSourceError {
        DocumentSourceError(
            place: "byte \(taken)",
            message: "expected the rest of a document, came the end of the file after \(count) bytes")
    }
}

extension SourceDocument {
    init(bson bytes: ArraySlice<UInt8>, number: Int) {
        place = "document \(number)"
        do throws(ExtendedJSONError) {
            content = .success(try BSONReader.document(Array(bytes)))
        } catch {
            content = .failure(Unreadable("\(error)", bytes.map { $0 < 0x20 || $0 > 0x7E ? UInt8(ascii: ".") : $0 }))
        }
    }
}
