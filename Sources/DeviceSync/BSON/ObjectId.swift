package import Changesets
public import Foundation
import SyncModel
internal import Synchronization

/// A BSON object identifier: 12 bytes, ordered by time of creation.
public final class ObjectId: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    package let value: ObjectIDValue

    package init(_ value: ObjectIDValue) { self.value = value }

    private static let process = UInt64.random(in: 0..<1 << 40)
    private static let counter = Atomic(UInt32.random(in: 0..<1 << 23))

    /// A new identifier: the time in seconds, five bytes that are random in each process, and a counter, so that those made within one second are in the order in which
    /// they were made.
    public convenience init() {
        let seconds = UInt64(UInt32(truncatingIfNeeded: Int64(Date().timeIntervalSince1970)))
        let number = Self.counter.wrappingAdd(1, ordering: .relaxed).oldValue & 0xFF_FFFF
        self.init(
            ObjectIDValue(
                high: seconds << 32 | Self.process >> 8,
                low: UInt32(truncatingIfNeeded: Self.process & 0xFF) << 24 | number))
    }

    /// The identifier that `string` spells: 24 hexadecimal digits.
    /// - Throws: `Realm.Error` with code `invalidInput` for any other string.
    public convenience init(string: String) throws {
        guard string.utf8.count == 24, HexBytes(hex: string) != nil, let high = UInt64(string.prefix(16), radix: 16),
            let low = UInt32(string.suffix(8), radix: 16)
        else {
            throw Realm.Error(
                .invalidInput, "an ObjectId has 24 hexadecimal digits; came \(string.utf8.count) characters")
        }
        self.init(ObjectIDValue(high: high, low: low))
    }

    /// The identifier that a literal spells, as in `ObjectId("507f1f77bcf86cd799439011")`; a literal that spells none traps.
    public convenience init(_ literal: StaticString) {
        let text = "\(literal)"
        let made = ValueConversion.orTrap { try ObjectId(string: text) }
        self.init(made.value)
    }

    /// An identifier with the given parts, of which the low bits are used that fit.
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
    public var stringValue: String {
        let bytes = withUnsafeBytes(of: value.high.bigEndian) { Array($0) }
        return HexBytes(bytes + withUnsafeBytes(of: value.low.bigEndian) { Array($0) }).hex
    }

    /// The time at which the identifier was made, by the clock of the device that made it.
    public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(value.high >> 32)) }

    /// The 24 hexadecimal digits.
    public var description: String { stringValue }

    /// Whether all twelve bytes are equal.
    public static func == (left: ObjectId, right: ObjectId) -> Bool { left.value == right.value }
    /// Compares the bytes in their order.
    public static func < (left: ObjectId, right: ObjectId) -> Bool { left.value < right.value }
    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }

    /// Reads the 24 digits.
    public convenience init(from decoder: any Decoder) throws {
        try self.init(string: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the 24 digits.
    public func encode(to encoder: any Encoder) throws {
        try stringValue.encode(to: encoder)
    }
}
