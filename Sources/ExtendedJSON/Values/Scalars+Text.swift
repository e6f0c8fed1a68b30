package import Changesets
import SyncModel

extension ObjectIDValue {
    /// Reads 24 hexadecimal digits.
    package init?(hex: String) {
        guard hex.utf8.count == 24, let bytes = HexBytes(hex: hex)?.bytes else { return nil }
        self.init(bytes: bytes)
    }

    /// Nil unless there are twelve.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 12 else { return nil }
        self.init(high: bytes[..<8].bigEndian, low: UInt32(truncatingIfNeeded: bytes[8...].bigEndian))
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian) { Array($0) } + withUnsafeBytes(of: low.bigEndian) { Array($0) }
    }

    /// The 24 hexadecimal digits.
    package var text: String { hexText(high, 16) + hexText(UInt64(low), 8) }
}

extension UUIDValue {
    /// Reads 32 hexadecimal digits with hyphens where UUIDs have them.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12], let bytes = HexBytes(hex: parts.joined())?.bytes else {
            return nil
        }
        self.init(bytes: bytes)
    }

    /// Nil unless there are sixteen.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(high: bytes[..<8].bigEndian, low: bytes[8...].bigEndian)
    }

    package var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian) { Array($0) } + withUnsafeBytes(of: low.bigEndian) { Array($0) }
    }

    /// The digits in lower case, with hyphens.
    package var text: String { ObjectKey.uuid(self).plainText }
}

extension Sequence<UInt8> {
    fileprivate var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
