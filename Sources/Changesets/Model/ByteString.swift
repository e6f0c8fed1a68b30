/// A string as the changeset format knows it: bytes, compared byte by byte.
///
/// Swift's `String` compares by canonical equivalence, under which two different spellings of "Prógram" are equal;
/// in a changeset they are two strings (docs/changesets.md, "Interned strings"). The bytes need not be valid UTF-8.
package struct ByteString: Hashable, Sendable {
    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
    package init(_ string: String) { bytes = Array(string.utf8) }

    /// All bytes at once: an array would feed them to the hasher one by one.
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }

    package var count: Int { bytes.count }
    package var isEmpty: Bool { bytes.isEmpty }

    /// The text for people and for the SDK; invalid UTF-8 is repaired and so does not round-trip.
    package var string: String { String(decoding: bytes, as: UTF8.self) }
}

extension ByteString: Comparable {
    package static func < (left: ByteString, right: ByteString) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension ByteString: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { string }
}
