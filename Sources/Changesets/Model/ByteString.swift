/// A string as the changeset format knows it: bytes, compared byte by byte.
///
/// Swift's `String` compares by canonical equivalence, under which two different spellings of "Prógram" are equal;
/// in a changeset they are two strings (docs/changesets.md, "Interned strings"). The bytes need not be valid UTF-8.
///
/// Up to 14 bytes are kept in place. Nearly all names of classes and fields are as short as that, and many keys and values: a copy of one counts no
/// references, and making one allocates nothing.
package struct ByteString: Sendable {
    /// Up to 14 bytes, the rest of them zero.
    private struct Few: Equatable {
        /// The first eight bytes as they are in memory.
        var first: UInt64 = 0
        /// The next four and the last two, the earlier ones in the lower bits.
        var next: UInt32 = 0
        var last: UInt16 = 0
        var count: UInt8 = 0

        static let most = 14

        init(_ bytes: UnsafeRawBufferPointer) {
            var words: (UInt64, UInt64) = (0, 0)
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
            first = words.0
            let rest = UInt64(littleEndian: words.1)
            next = UInt32(truncatingIfNeeded: rest)
            last = UInt16(truncatingIfNeeded: rest >> 32)
            count = UInt8(truncatingIfNeeded: bytes.count)
        }

        /// The bytes in two words, as they are in memory.
        var words: (UInt64, UInt64) { (first, (UInt64(next) | UInt64(last) << 32).littleEndian) }

        /// Compares two strings as `ByteString.compared` does.
        func compared(to other: Few) -> Int {
            let (left, right) = (words, other.words)
            if left.0 != right.0 { return left.0.bigEndian < right.0.bigEndian ? -1 : 1 }
            if left.1 != right.1 { return left.1.bigEndian < right.1.bigEndian ? -1 : 1 }
            return Int(count) - Int(other.count)
        }
    }

    /// `many` has more than fit in place: equal strings have equal storage.
    private enum Storage {
        case few(Few)
        case many([UInt8])
    }

    private let storage: Storage

    package init(_ bytes: [UInt8]) {
        storage = bytes.count > Few.most ? .many(bytes) : .few(bytes.withUnsafeBytes { Few($0) })
    }

    package init(_ bytes: UnsafeRawBufferPointer) {
        storage = bytes.count > Few.most ? .many(Array(bytes)) : .few(Few(bytes))
    }

    package init(_ bytes: ArraySlice<UInt8>) { self = bytes.withUnsafeBytes { ByteString($0) } }

    package init(_ string: String) {
        var string = string
        self = string.withUTF8 { ByteString(UnsafeRawBufferPointer($0)) }
    }

    /// The bytes in an array of their own, which costs an allocation: `withUnsafeBytes` looks at them where they are.
    package var bytes: [UInt8] {
        switch storage {
        case .few: withUnsafeBytes { Array($0) }
        case .many(let bytes): bytes
        }
    }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch storage {
        case .few(let few):
            let words = few.words
            return Swift.withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(few.count)])) }
        case .many(let bytes): return bytes.withUnsafeBytes { body($0) }
        }
    }

    package var count: Int {
        switch storage {
        case .few(let few): Int(few.count)
        case .many(let bytes): bytes.count
        }
    }

    package var isEmpty: Bool { count == 0 }

    package var first: UInt8? { withUnsafeBytes { $0.first } }

    package func starts(with prefix: ByteString) -> Bool {
        withUnsafeBytes { bytes in prefix.withUnsafeBytes { bytes.starts(with: $0) } }
    }

    /// The text for people and for the SDK; invalid UTF-8 is repaired and so does not round-trip.
    package var string: String { withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
}

extension ByteString: Hashable {
    package static func == (left: ByteString, right: ByteString) -> Bool {
        switch (left.storage, right.storage) {
        case (.few(let left), .few(let right)): left == right
        case (.many(let left), .many(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch storage {
        case .few(let few):
            let words = few.words
            hasher.combine(words.0)
            hasher.combine(words.1 ^ UInt64(few.count) &<< 56)
        case .many(let bytes):
            // All bytes at once: an array would feed them to the hasher one by one.
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            hasher.combine(bytes.count)
        }
    }
}

extension ByteString: Comparable {
    package static func < (left: ByteString, right: ByteString) -> Bool { left.compared(to: right) < 0 }

    /// Negative if the string comes before the other one, zero if the two are equal.
    package func compared(to other: ByteString) -> Int {
        if case (.few(let left), .few(let right)) = (storage, other.storage) { return left.compared(to: right) }
        return withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                for position in 0..<min(left.count, right.count) where left[position] != right[position] {
                    return left[position] < right[position] ? -1 : 1
                }
                return left.count - right.count
            }
        }
    }
}

extension ByteString: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) { self.init(value) }
    package var description: String { string }
}
