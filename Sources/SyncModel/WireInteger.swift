/// A number of the wire in a type of its own, so that two of them cannot be swapped.
///
/// The peers keep these numbers in 63 bits: parsers let nothing above `WireIntegerBounds.maximum` through and
/// encoders refuse it.
package protocol WireInteger: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible,
    ExpressibleByIntegerLiteral
where RawValue == UInt64, IntegerLiteralType == UInt64 {
    init(rawValue: UInt64)
}

package enum WireIntegerBounds {
    /// 2^63 - 1 (docs/protocol.md, "Lexical rules").
    package static let maximum = UInt64(Int64.max)
}

extension WireInteger {
    @inlinable package init(_ rawValue: UInt64) { self.init(rawValue: rawValue) }
    @inlinable package init(integerLiteral value: UInt64) { self.init(rawValue: value) }

    @inlinable package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package var description: String { String(rawValue) }

    /// Whether the number may travel at all.
    package var fitsTheWire: Bool { rawValue <= WireIntegerBounds.maximum }
}
