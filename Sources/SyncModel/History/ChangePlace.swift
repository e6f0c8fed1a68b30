/// The place of a change among all changes of its realm, in their order: whoever keeps the last place that it has dealt with knows a repetition.
package struct ChangePlace: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The realm's sync generation: versions begin anew with each.
    package var generation: UInt64
    package var version: ServerVersion
    /// The change's place among those of the version, from 0 on.
    package var index: Int

    package init(generation: UInt64, version: ServerVersion, index: Int) {
        self.generation = generation
        self.version = version
        self.index = index
    }

    /// The place of the change that says that a realm is gone: behind all of the realm's versions, and before those of a realm of its name to come.
    ///
    /// - Parameter version: the realm's latest.
    package init(erasureAfter version: ServerVersion, generation: UInt64) {
        self.init(generation: generation, version: version + 1, index: 0)
    }

    /// - Parameter text: as `description` has it, or without the index: after all changes of the version.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let generation = UInt64(parts[0]), let version = UInt64(parts[1]),
            version <= UInt64(Int64.max)
        else { return nil }
        guard parts.count == 3 else {
            self.init(generation: generation, version: ServerVersion(version), index: .max)
            return
        }
        guard let index = Int(parts[2]), index >= 0 else { return nil }
        self.init(generation: generation, version: ServerVersion(version), index: index)
    }

    package var description: String {
        index == .max ? "\(generation).\(version.rawValue)" : "\(generation).\(version.rawValue).\(index)"
    }

    package static func < (left: ChangePlace, right: ChangePlace) -> Bool {
        (left.generation, left.version, left.index) < (right.generation, right.version, right.index)
    }
}
