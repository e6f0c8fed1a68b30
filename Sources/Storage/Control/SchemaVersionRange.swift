/// The schema versions that an app in flexible mode knows: a client's configuration names one, and a client of another is refused.
package struct SchemaVersionRange: Codable, Sendable, Equatable, CustomStringConvertible {
    package var oldest: UInt64
    package var newest: UInt64

    package init(oldest: UInt64, newest: UInt64) {
        self.oldest = oldest
        self.newest = newest
    }

    /// - Parameter text: a version, or two of them with `-` in between; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let oldest = parts.first.flatMap({ UInt64($0) }), let newest = parts.last.flatMap({ UInt64($0) }),
            oldest <= newest, newest <= UInt64(Int64.max)
        else { return nil }
        self.init(oldest: oldest, newest: newest)
    }

    package var description: String { oldest == newest ? "\(oldest)" : "\(oldest)-\(newest)" }

    package func contains(_ version: UInt64) -> Bool { oldest <= version && version <= newest }
}
