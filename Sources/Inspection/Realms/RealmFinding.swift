package import SyncModel

/// A fault of a stored realm.
package struct RealmFinding: Sendable, Equatable, Codable {
    package enum Check: String, Sendable, Codable, CaseIterable {
        /// The replayed history equals the state.
        case replay
        /// Versions, salts and byte counts continue without a gap.
        case continuity
        /// Every changeset and object can be read, and every object's class exists.
        case encoding
        /// The progress of client files lies within the history, and their idents below the next ident.
        case clientFiles
        /// Reciprocals belong to a client file and lie within its window.
        case reciprocals
        /// The before images of a flexible realm are what the objects were.
        case images
        /// Indexes of a flexible realm's objects have what the objects have.
        case indexes
        /// Stock clients can apply what they are sent.
        case misfits
    }

    package var check: Check
    /// Words for what was expected and what is stored. Names objects and versions, never their contents.
    package var what: String
}

/// The first findings of a realm, and how many there were.
struct FindingList {
    static let maxListed = 50
    private(set) var listed: [RealmFinding] = []
    private(set) var count = 0

    mutating func add(_ check: RealmFinding.Check, _ what: String) {
        count += 1
        if listed.count < Self.maxListed { listed.append(RealmFinding(check: check, what: what)) }
    }

    mutating func add(_ other: FindingList) {
        count += other.count
        listed += other.listed.prefix(Self.maxListed - listed.count)
    }
}

/// The result of verifying a realm.
package struct RealmVerdict: Sendable, Equatable, Codable {
    package enum Replay: String, Sendable, Codable {
        /// The history, applied to an empty realm, gives the state; if it was compacted, so does the base with what follows.
        case equal
        /// The replay gives another state; the findings say where.
        case different
        /// The history does not reach back to the realm's beginning, and there is no base, which is a fault. Everything else
        /// was checked.
        case compacted
        /// A changeset of the history cannot be applied.
        case broken
    }

    package var app: String
    package var partition: String
    package var slice: Int
    package var generation: UInt64
    package var version: ServerVersion
    package var historyBase: ServerVersion
    /// The version of the base that a new client begins with; nil if a new client gets the whole history.
    package var base: ServerVersion?
    package var entries: UInt64
    package var historyBytes: UInt64
    package var objects: Int
    package var clientFiles: Int
    package var replay: Replay
    /// The digest of schema and objects, equal for all copies with the same content; nil if an object could not be read.
    package var digest: String?
    package var findings: [RealmFinding]
    /// How many findings there are, including those beyond the ones that are listed.
    package var findingCount: Int

    package var isSound: Bool { findingCount == 0 }
}
