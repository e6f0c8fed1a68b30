package import SyncModel

/// Something about a stored realm that must not be so.
package struct RealmFinding: Sendable, Equatable, Codable {
    package enum Check: String, Sendable, Codable, CaseIterable {
        /// The history replays to the state.
        case replay
        /// Versions without gaps, salts and byte counts that go on.
        case continuity
        /// Every changeset and object can be read, and belongs to something.
        case encoding
        /// Progress of client files within the history, idents below the next one.
        case clientFiles
        /// Reciprocals belong to a client file and lie in its window.
        case reciprocals
    }

    package var check: Check
    /// What was expected and what is stored. Names objects and versions, never their contents.
    package var what: String

    package init(_ check: Check, _ what: String) {
        self.check = check
        self.what = what
    }
}

/// The first findings of a realm, and how many there were.
struct FindingList {
    static let maxListed = 50
    private(set) var listed: [RealmFinding] = []
    private(set) var count = 0

    mutating func add(_ check: RealmFinding.Check, _ what: String) {
        count += 1
        if listed.count < Self.maxListed { listed.append(RealmFinding(check, what)) }
    }
}

/// What a realm's verification came to.
package struct RealmVerdict: Sendable, Equatable, Codable {
    package enum Replay: String, Sendable, Codable {
        /// The history, applied to nothing, gives the state; and where it was compacted, the base with what follows it.
        case equal
        /// It does not; the findings say where.
        case different
        /// The history does not reach back to the realm's beginning, and there is no base either, which is a fault.
        /// Everything else was checked.
        case compacted
        /// Something in the history cannot be applied at all.
        case broken
    }

    package var app: String
    package var partition: String
    package var slice: Int
    package var generation: UInt64
    package var version: ServerVersion
    package var historyBase: ServerVersion
    /// The version of the base that a new client begins with; nil if it gets the history.
    package var base: ServerVersion?
    package var entries: UInt64
    package var historyBytes: UInt64
    package var objects: Int
    package var clientFiles: Int
    package var replay: Replay
    /// Of schema and objects: equal in every copy that holds the same. Nil where an object could not be read.
    package var digest: String?
    package var findings: [RealmFinding]
    /// All of them, listed or not.
    package var findingCount: Int

    package var isSound: Bool { findingCount == 0 }
}
