import Synchronization

/// What a view's part was made of, beside the texts of its class's query and its class's name.
struct ClassOrigin: Sendable {
    /// The text of the roles.
    var roles: String
    /// The schema version of the client's copy.
    var version: UInt64?
    /// Tells the state of the realm's schema, which only grows.
    var schema: Int
    /// The hash of the query and the roles.
    var viewHash: Int
}

/// What is known of a view's part beside the part itself, whoever has a copy.
final class ClassMemo: Sendable {
    let origin: ClassOrigin
    /// The ways to the objects, once somebody has asked for them: working them out takes as long as the query and the roles.
    private let found = Mutex<[ClassAccess]??>(nil)

    init(_ origin: ClassOrigin) { self.origin = origin }

    var hasAccesses: Bool { found.withLock { $0 != nil } }

    func accesses(_ find: () -> [ClassAccess]?) -> [ClassAccess]? {
        found.withLock { found in
            if let found { return found }
            let made = find()
            found = .some(made)
            return made
        }
    }

    func forgetAccesses() { found.withLock { $0 = nil } }
}
