internal import Logging
internal import Synchronization

/// The users of one app, in memory and in the metadata store.
final class UserCache: Sendable {
    private struct Contents {
        var records: [String: UserRecord] = [:]
        var current: String?
        var isLoaded = false
    }

    private let contents = Mutex(Contents())
    private let store: MetadataStore
    private let logger: Logging.Logger

    init(store: MetadataStore, logger: Logging.Logger) {
        self.store = store
        self.logger = logger
    }

    /// Reads what is stored, once.
    /// - Returns: whether it was this call that did.
    func load() throws -> Bool {
        try contents.withLock { contents in
            guard !contents.isLoaded else { return false }
            let users = try store.users()
            contents.current = try store.currentUserID()
            for user in users { contents.records[user.id] = user }
            contents.isLoaded = true
            return true
        }
    }

    func record(_ id: String) -> UserRecord? { contents.withLock { $0.records[id] } }

    /// A user's token.
    /// - Throws: `AppError` if the user has none.
    func token(_ token: KeyPath<UserRecord, String>, of id: String) throws(AppError) -> String {
        guard let token = record(id)?[keyPath: token], !token.isEmpty else {
            throw AppError(.invalidSession, "the user is logged out")
        }
        return token
    }

    var all: [UserRecord] { contents.withLock { $0.records.values.filter { $0.state != .removed } } }

    var currentID: String? {
        contents.withLock { contents in
            guard let id = contents.current, contents.records[id]?.state == .loggedIn else { return nil }
            return id
        }
    }

    /// Caches a user that just logged in and makes it the current one.
    func loggedIn(_ record: UserRecord) throws {
        try store.save(record, makeCurrent: true)
        contents.withLock {
            $0.records[record.id] = record
            $0.current = record.id
        }
    }

    func setCurrent(_ id: String) {
        contents.withLock { $0.current = id }
        persist { try store.setCurrentUser(id) }
    }

    /// Notes a user's new access token.
    /// - Parameter profile: what the user is now; nil to keep what there is.
    func renew(_ id: String, accessToken: String, _ profile: UserProfileRecord? = nil) {
        let record = contents.withLock { contents -> UserRecord? in
            contents.records[id]?.accessToken = accessToken
            if let profile { contents.records[id]?.profile = profile }
            return contents.records[id]
        }
        if let record { persist { try store.save(record) } }
    }

    /// Takes a user's tokens away. Another logged-in user becomes the current one.
    func end(_ id: String, as state: UserState) {
        let (record, current) = contents.withLock { contents -> (UserRecord?, String?) in
            contents.records[id]?.accessToken = ""
            contents.records[id]?.refreshToken = ""
            contents.records[id]?.state = state
            if contents.current == id {
                contents.current = contents.records.values.first { $0.state == .loggedIn }?.id
            }
            return (contents.records[id], contents.current)
        }
        guard let record else { return }
        persist {
            try store.save(record)
            try store.setCurrentUser(current)
        }
    }

    /// The memory is ahead of the disk if this fails; the worst that follows is a login too many.
    private func persist(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            logger.error("cannot write the user cache", metadata: ["error": "\(error)"])
        }
    }
}
