package import Changesets
package import ExtendedJSON

/// A document of a file that is imported, or why what stands in its place is none.
package struct SourceDocument: Sendable {
    /// Something that stands where a document should, and the text of it for people, cut where it is long.
    package struct Unreadable: Error, Hashable, Sendable {
        package var reason: String
        package var text: String

        private static let longestText = 4_096

        init(_ reason: String, _ bytes: some Collection<UInt8>) {
            self.reason = reason
            text = String(decoding: bytes.prefix(Self.longestText), as: UTF8.self)
        }
    }

    /// Where it stands in its file, for people: `line 12`, `document 3`.
    package var place: String
    /// The collection that the file says it is of; most files say none.
    package var collection: ByteString?
    package var content: Result<BSONDocument, Unreadable>
}

/// Why nothing more can be read of a file: what was expected, what came, and where.
package struct DocumentSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    package var place: String
    package var message: String

    package var description: String { "\(place): \(message)" }
}

/// Takes a file apart into documents while its bytes come in: no file is held whole.
package protocol DocumentSource: Sendable {
    /// Takes the next bytes of the file.
    mutating func add(_ bytes: [UInt8])
    /// The next document that is complete; nil until more bytes are added.
    mutating func next() throws(DocumentSourceError) -> SourceDocument?
    /// What remains once the file is at its end: the last document, if its form lets the end of the file end it.
    mutating func last() throws(DocumentSourceError) -> SourceDocument?
}

/// How large a document of a file may be: as large as MongoDB has them, with room for text, which is longer than BSON.
package enum SourceLimits {
    package static let documentBytes = 16 << 20
    package static let textBytes = 64 << 20
}
