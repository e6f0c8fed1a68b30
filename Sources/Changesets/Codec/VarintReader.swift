/// Reads the primitives of the changeset format (docs/changesets.md, "Primitives") from bytes, checking every bound.
package struct VarintReader: Sendable {
    package let bytes: [UInt8]
    package private(set) var position: Int
    package let end: Int

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    package var isAtEnd: Bool { position >= end }
    package var remaining: Int { end - position }

    package func malformed(_ message: String) -> ChangesetError {
        ChangesetError(.malformed, message, offset: position)
    }

    package mutating func readUInt8() throws(ChangesetError) -> UInt8 {
        UInt8(truncatingIfNeeded: try readVarint(maxBytes: 2, maximum: 0xFF, signed: false))
    }

    package mutating func readUInt32() throws(ChangesetError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readVarint(maxBytes: 5, maximum: 0xFFFF_FFFF, signed: false))
    }

    package mutating func readInt32() throws(ChangesetError) -> Int32 {
        Int32(truncatingIfNeeded: try readVarint(maxBytes: 5, maximum: 0x7FFF_FFFF, signed: true))
    }

    package mutating func readUInt64() throws(ChangesetError) -> UInt64 {
        try readVarint(maxBytes: 10, maximum: .max, signed: false)
    }

    package mutating func readInt64() throws(ChangesetError) -> Int64 {
        Int64(bitPattern: try readVarint(maxBytes: 10, maximum: UInt64(Int64.max), signed: true))
    }

    package mutating func readBool() throws(ChangesetError) -> Bool { try readUInt8() != 0 }

    /// The coefficient of a decimal; unlike other numbers it has no sign bit, so its last byte carries seven bits.
    package mutating func readUInt128() throws(ChangesetError) -> (high: UInt64, low: UInt64) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for index in 0..<17 {
            guard position < end else { break }
            let byte = bytes[position]
            position += 1
            let group = UInt64(byte & 0x7F)
            let shift = UInt64(index * 7)
            // Smart shifts: 0 where the group lies wholly in the other half.
            low |= shift < 64 ? group << shift : 0
            high |= shift < 64 ? group >> (64 - shift) : group << (shift - 64)
            if byte & 0x80 == 0 { return (high, low) }
        }
        throw malformed("decimal decoding failure: expected a coefficient of up to 17 bytes")
    }

    /// `count` raw bytes; the count is compared with what remains before anything is allocated.
    package mutating func readBytes(_ count: Int) throws(ChangesetError) -> [UInt8] {
        guard count >= 0, count <= remaining else {
            throw malformed("truncated input: expected \(count) bytes, \(remaining) remain")
        }
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    /// Passes over `count` bytes.
    package mutating func skip(_ count: Int) throws(ChangesetError) {
        guard count >= 0, count <= remaining else {
            throw malformed("truncated input: expected \(count) bytes, \(remaining) remain")
        }
        position += count
    }

    /// A little-endian or big-endian unsigned number of fixed width.
    package mutating func readFixed(_ count: Int, littleEndian: Bool) throws(ChangesetError) -> UInt64 {
        guard count <= remaining, count <= 8 else {
            throw malformed("truncated input: expected \(count) bytes, \(remaining) remain")
        }
        var value: UInt64 = 0
        for index in 0..<count {
            let byte = UInt64(bytes[position + (littleEndian ? count - 1 - index : index)])
            value = value << 8 | byte
        }
        position += count
        return value
    }

    package mutating func readLength(limit: Int, what: String) throws(ChangesetError) -> Int {
        let length = try readUInt64()
        guard length <= UInt64(limit) else { throw malformed("\(what) too long: \(length) bytes, limit \(limit)") }
        return Int(length)
    }

    private mutating func readVarint(
        maxBytes: Int, maximum: UInt64, signed: Bool
    ) throws(ChangesetError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        for index in 0..<maxBytes {
            let next = position + index
            guard next < end else { break }
            let byte = bytes[next]
            if byte & 0x80 != 0 {
                // At most nine of these: ten-byte numbers end in their tenth byte.
                guard index < maxBytes - 1 else { break }
                value |= UInt64(byte & 0x7F) &<< shift
                shift += 7
                continue
            }
            let group = UInt64(byte & 0x3F)
            guard group <= maximum &>> shift, signed || byte & 0x40 == 0 else { break }
            value |= group &<< shift
            position = next + 1
            return byte & 0x40 == 0 ? value : ~value
        }
        throw malformed("integer decoding failure")
    }
}
