import Changesets

/// Bytes of a value, in the order in which queries compare values of one property: null first, strings by their bytes, NaN before all other
/// numbers, 0 and -0 alike.
///
/// Long values have only their beginnings here, so that values may share their bytes; but what is less never has greater ones.
package enum OrderedBytes {
    /// The bounds before and behind the bytes of all values.
    package static let least: [UInt8] = []
    package static let greatest: [UInt8] = [0xFF]
    /// The bound before the bytes of all values but null.
    package static let leastValue: [UInt8] = [1]

    /// The bytes from `low` to `high`, both included.
    package struct Range: Hashable, Sendable {
        package var low: [UInt8]
        package var high: [UInt8]

        package init(low: [UInt8], high: [UInt8]) {
            self.low = low
            self.high = high
        }
    }

    /// - Parameter maxCount: of the bytes.
    /// - Returns: nil for decimal numbers, links, collections and embedded objects.
    package static func of(_ value: Value, maxCount: Int) -> [UInt8]? {
        switch value {
        case .null: [0]
        case .bool(let value): [1, value ? 1 : 0]
        case .int(let value): [2] + bytes(UInt64(bitPattern: value) ^ 1 << 63)
        case .float(let bits): [3] + bytes(order(Double(Float(bitPattern: bits))))
        case .double(let bits): [3] + bytes(order(Double(bitPattern: bits)))
        case .string(let value): [4] + value.bytes.prefix(maxCount - 1)
        case .binary(let value): [5] + value.prefix(maxCount - 1)
        case .timestamp(let value):
            [6] + bytes(UInt64(bitPattern: value.seconds) ^ 1 << 63)
                + bytes(UInt32(bitPattern: value.nanoseconds) ^ 1 << 31)
        case .objectID(let value): [7] + bytes(value.high) + bytes(value.low)
        case .uuid(let value): [8] + bytes(value.high) + bytes(value.low)
        case .decimal, .link, .list, .dictionary, .set, .embedded: nil
        }
    }

    /// Bits in the order of numbers: those of negative numbers the other way round, before those of others.
    private static func order(_ value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits & 1 << 63 == 0 ? bits | 1 << 63 : ~bits
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
