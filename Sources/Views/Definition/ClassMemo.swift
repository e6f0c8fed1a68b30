import Synchronization

/// What is known of a view's part beside the part itself, whoever has a copy.
final class ClassMemo: Sendable {
    /// What the view was made of beside its queries: the text of the roles, and the schema version of the client's copy.
    let roles: String
    let version: UInt64?
    /// Tells the state of the realm's schema, which only grows.
    let schema: Int
    /// The hash of the query and the roles.
    let viewHash: Int
    /// The ways to the objects, once somebody has asked for them: working them out takes as long as the query and the roles.
    private let found = Mutex<[ClassAccess]??>(nil)

    init(roles: String, version: UInt64?, schema: Int, viewHash: Int) {
        self.roles = roles
        self.version = version
        self.schema = schema
        self.viewHash = viewHash
    }

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
