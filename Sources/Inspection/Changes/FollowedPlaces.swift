package import Messages
import SyncModel

/// Up to where somebody who follows an app knows each realm: what comes of the changes behind it counts, and no other, and a change that follows
/// one that has not come tells that something is missing. Pure.
package struct FollowedPlaces: Sendable {
    /// What becomes of a change.
    package enum Verdict: Sendable, Equatable {
        case told
        /// The change is known already, or of a realm that was gone when its turn came.
        case dropped
        /// A change before it has not come.
        case missed
    }

    private enum Known {
        /// - Parameters:
        ///   - state: the place at which documents were told.
        ///   - last: the last change that came, or the place of the state.
        case upTo(state: ChangePlace?, last: FeedPlace)
        /// The realm was gone when its turn came: what it was nobody was told.
        case gone
    }

    /// How many realms are remembered of which documents were told.
    package static let most = 1_000_000
    /// How many are remembered of which only changes came: of further ones nobody sees what is missing.
    static let mostMet = 100_000
    private let isOfOneClass: Bool
    private var realms: [String: Known] = [:]

    /// - Parameter isOfOneClass: only the changes of one class come.
    package init(isOfOneClass: Bool) { self.isOfOneClass = isOfOneClass }

    package var isFull: Bool { realms.count >= Self.most }

    /// The realm's documents were told as they are at a place.
    ///
    /// - Parameter realm: its `topicKey`.
    package mutating func told(_ realm: String, at place: FeedPlace) {
        realms[realm] = .upTo(state: place.place, last: place)
    }

    /// There was such a realm, and it was gone before its documents were told.
    package mutating func isGone(_ realm: String) { realms[realm] = .gone }

    /// Notes a change that came. A realm that nobody has met is a new one.
    package mutating func take(_ change: PassingChange) -> Verdict {
        switch realms[change.realm] {
        case nil:
            if realms.count < Self.mostMet { realms[change.realm] = .upTo(state: nil, last: change.place) }
            return .told
        case .upTo(let state, let last)?:
            if let state, change.place.place <= state { return .dropped }
            // Places of two histories say nothing of each other.
            if change.place.history == last.history {
                guard change.place.place > last.place else { return .dropped }
                let follows = isOfOneClass ? change.follows.inClass : change.follows.inRealm
                if let follows, follows > last.place { return .missed }
            }
            realms[change.realm] = .upTo(state: state, last: change.place)
            return .told
        case .gone?:
            if change.isErasure { realms[change.realm] = nil }
            return .dropped
        }
    }
}
