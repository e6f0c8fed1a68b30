/// A version of the sync protocol. Peers may name any; `minimum` to `maximum` are spoken here.
package struct ProtocolVersion: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package init(_ rawValue: Int) { self.rawValue = rawValue }

    package static let minimum = ProtocolVersion(10)
    package static let maximum = ProtocolVersion(14)
    package static let supported = minimum...maximum

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    package var description: String { String(rawValue) }

    /// Whether there are schema versions in BIND, codes 235 and 236, and the action MigrateSchema: from 11 on.
    package var hasSchemaVersions: Bool { rawValue >= 11 }
    /// Whether flexible progress is a decimal: from 12 on; before, it is an integer.
    package var hasDecimalProgress: Bool { rawValue >= 12 }
    /// Whether the batch slot of a flexible DOWNLOAD has three values: from 14 on; before, it is a boolean.
    package var hasBatchStates: Bool { rawValue >= 14 }
}
