package import Messages

/// Up to where somebody knows each realm of an app that was told its documents first: what comes of the changes behind it counts, and no other. Pure.
package struct FollowedPlaces: Sendable {
    private enum Known {
        case upTo(ChangePlace)
        /// The realm was gone when its turn came: what it was nobody was told.
        case gone
    }

    /// How many realms are remembered.
    package static let most = 1_000_000
    private var realms: [String: Known] = [:]

    package init() {}

    package var isFull: Bool { realms.count >= Self.most }

    /// The realm's documents were told as they are at a place.
    ///
    /// - Parameter realm: its `topicKey`.
    package mutating func told(_ realm: String, at place: ChangePlace) { realms[realm] = .upTo(place) }

    /// There was such a realm, and it was gone before its documents were told.
    package mutating func isGone(_ realm: String) { realms[realm] = .gone }

    /// Whether a change is to be told. A realm that nobody has met is a new one.
    package mutating func accepts(_ change: PassingChange) -> Bool {
        switch realms[change.realm] {
        case nil: return true
        case .upTo(let place)?: return change.place.place > place
        case .gone?:
            if change.isErasure { realms[change.realm] = nil }
            return false
        }
    }
}
