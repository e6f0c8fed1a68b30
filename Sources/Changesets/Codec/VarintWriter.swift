/// Writes the primitives of the changeset format (docs/changesets.md, "Primitives").
package struct VarintWriter: Sendable {
    package var bytes: [UInt8] = []

    package init() {}

    package mutating func write(_ value: UInt64) { write(magnitude: value, sign: 0) }

    package mutating func write(_ value: UInt32) { write(UInt64(value)) }

    package mutating func write(_ value: Int64) {
        write(magnitude: UInt64(bitPattern: value < 0 ? ~value : value), sign: value < 0 ? 0x40 : 0)
    }

    package mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// A decimal's coefficient.
    package mutating func write(high: UInt64, low: UInt64) {
        var high = high
        var low = low
        while high != 0 || low >= 64 {
            bytes.append(0x80 | UInt8(truncatingIfNeeded: low & 0x7F))
            low = low >> 7 | high << 57
            high >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: low))
    }

    /// The length and then the bytes.
    package mutating func write(lengthAnd content: [UInt8]) {
        write(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// The length and then the bytes.
    package mutating func write(lengthAnd content: ByteString) {
        write(UInt64(content.count))
        content.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    package mutating func write(fixed value: UInt64, count: Int, littleEndian: Bool) {
        for index in 0..<count {
            let shift = UInt64(8 * (littleEndian ? index : count - 1 - index))
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    private mutating func write(magnitude: UInt64, sign: UInt8) {
        var rest = magnitude
        while rest >= 64 {
            bytes.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7F))
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest) | sign)
    }
}
