package import Changesets
import ExtendedJSON

/// The documents of an archive of mongodump (`mongodump --archive`), of all collections that it has.
///
/// An archive is four magic bytes, a document about the dump and one for each collection, and then parts. A part is a document that names the
/// collection, documents of it, and the end mark; the parts of several collections take turns.
package struct ArchiveSource: DocumentSource {
    /// The bytes that an archive begins with.
    package static let magic: [UInt8] = [0x6D, 0xE2, 0x99, 0x81]
    private static let end: Int32 = -1

    private enum Part {
        case magic
        /// The bytes before the parts.
        case prelude
        case heading
        case documents(database: ByteString, collection: ByteString)
    }

    private var queue = ByteQueue()
    private var part = Part.magic
    private var counts: [ByteString: Int] = [:]
    /// Databases of the server itself, which no app has.
    package static let systems: Set<ByteString> = ["admin", "config", "local"]

    package init() {}

    package mutating func add(_ bytes: [UInt8]) { queue.add(bytes) }

    package mutating func next() throws(DocumentSourceError) -> SourceDocument? {
        while true {
            if case .magic = part {
                guard queue.count >= Self.magic.count else { return nil }
                guard Array(queue.take(Self.magic.count)) == Self.magic else {
                    throw DocumentSourceError(place: "byte 0", message: "expected an archive of mongodump")
                }
                part = .prelude
            }
            guard let length = queue.int32 else { return nil }
            if length == Self.end {
                queue.drop(4)
                part = .heading
                continue
            }
            let place = "byte \(queue.taken)"
            guard let bytes = try queue.takeDocument() else { return nil }
            switch part {
            case .magic, .prelude: continue
            case .heading: part = try Self.heading(Array(bytes), at: place)
            case .documents(let database, let collection):
                guard !Self.systems.contains(database), !collection.bytes.starts(with: "system.".utf8) else { continue }
                counts[collection, default: 0] += 1
                var document = SourceDocument(bson: bytes, number: counts[collection, default: 0])
                document.place = "\(collection), \(document.place)"
                document.collection = collection
                return document
            }
        }
    }

    package mutating func last() throws(DocumentSourceError) -> SourceDocument? {
        guard case .heading = part, queue.count == 0 else { throw queue.cutOff }
        return nil
    }

    private static func heading(_ bytes: [UInt8], at place: String) throws(DocumentSourceError) -> Part {
        let document: BSONDocument
        do throws(ExtendedJSONError) {
            document = try BSONReader.document(bytes)
        } catch {
            throw DocumentSourceError(place: place, message: "\(error)")
        }
        guard let database = document["db"]?.string, let collection = document["collection"]?.string else {
            throw DocumentSourceError(place: place, message: "expected the heading of a part, with db and collection")
        }
        return .documents(database: database, collection: collection)
    }
}
