package import Changesets
public import Foundation

/// A BSON object identifier: 12 bytes, ordered by time of creation.
public final class ObjectId: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    package let value: ObjectIDValue

    package init(_ value: ObjectIDValue) { self.value = value }

    /// A new identifier: the time in seconds, then eight random bytes.
    public convenience init() {
        let seconds = UInt64(UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)))
        let random = UInt64.random(in: .min ... .max)
        self.init(ObjectIDValue(high: seconds << 32 | random >> 32, low: UInt32(truncatingIfNeeded: random)))
    }

    /// The identifier that `string` spells: 24 hexadecimal digits.
    /// - Throws: `Realm.Error` with code `invalidInput` for any other string.
    public convenience init(string: String) throws {
        let digits = Array(string.utf8)
        guard digits.count == 24, let high = UInt64(string.prefix(16), radix: 16),
            let low = UInt32(string.suffix(8), radix: 16), digits.allSatisfy(\.isHexadecimalDigit)
        else {
            throw Realm.Error(.invalidInput, "an ObjectId has 24 hexadecimal digits; came \(digits.count) characters")
        }
        self.init(ObjectIDValue(high: high, low: low))
    }

    /// An identifier with the given parts; only the low bits that have room are used.
    public convenience init(timestamp: Date, machineId: Int, processId: Int) {
        let seconds = UInt64(UInt32(truncatingIfNeeded: Int64(timestamp.timeIntervalSince1970)))
        let machine = UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF
        let process = UInt64(truncatingIfNeeded: processId) & 0xFFFF
        let counter = UInt32.random(in: 0...0xFF_FFFF)
        self.init(
            ObjectIDValue(
                high: seconds << 32 | machine << 8 | process >> 8,
                low: UInt32(truncatingIfNeeded: process & 0xFF) << 24 | counter))
    }

    /// A new identifier.
    public static func generate() -> ObjectId { ObjectId() }

    /// The 24 hexadecimal digits.
    public var stringValue: String { hexadecimal(value.high, digits: 16) + hexadecimal(UInt64(value.low), digits: 8) }

    /// When the identifier was made, by its maker's clock.
    public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(value.high >> 32)) }

    /// The 24 hexadecimal digits.
    public var description: String { stringValue }

    /// Equality of all twelve bytes.
    public static func == (left: ObjectId, right: ObjectId) -> Bool { left.value == right.value }
    /// The order of the bytes.
    public static func < (left: ObjectId, right: ObjectId) -> Bool { left.value < right.value }
    /// Feeds the bytes to a hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }

    /// Reads the 24 digits.
    public convenience init(from decoder: any Decoder) throws {
        try self.init(string: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the 24 digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(stringValue)
    }
}

func hexadecimal(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}

extension UInt8 {
    var isHexadecimalDigit: Bool {
        (0x30...0x39).contains(self) || (0x41...0x46).contains(self) || (0x61...0x66).contains(self)
    }
}
