/// The number of a table in its realm; never given out again, also not to a later table of the same name.
package struct TableID: RawRepresentable, Hashable, Sendable, Comparable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The number of a column in its table; never given out again, so a column that is added again starts empty.
package struct ColumnID: RawRepresentable, Hashable, Sendable, Comparable {
    package var rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
