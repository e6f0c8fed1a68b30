import Storage

/// What an owner knows of what apps have in its slice and of what users have added to it.
///
/// A user's additions are in memory until they are a noticeable part of what the user may add; only then are they written, and what
/// the user added before is read. So a user who adds little costs neither a row nor a reading, and an owner that dies forgets
/// a sixty-fourth of a quota at most. Likewise an app's counts are read again after some seconds of use.
struct UsageLedger {
    struct User {
        /// Not written yet.
        var unsaved = UsageAmounts()
        /// What the store has, and when that was read by the uptime; nil: nobody has asked yet.
        var stored: (usage: UserUsage?, readAt: UInt64)?
    }

    private struct App {
        var usage: AppUsage
        var readAt: UInt64
    }

    /// What part of a quota is noticeable.
    static let noticeable = 64.0
    /// How long what was read holds, in milliseconds.
    static let userLifetime: UInt64 = 60_000
    static let appLifetime: UInt64 = 5_000
    static let maxUsers = 20_000
    static let maxApps = 1_000

    private var users: [AppUser: User] = [:]
    private var apps: [String: App] = [:]

    // MARK: Users

    func user(_ user: AppUser) -> User { users[user] ?? User() }

    mutating func read(_ usage: UserUsage?, of user: AppUser, at uptime: UInt64) {
        makeRoom(for: user)
        users[user, default: User()].stored = (usage, uptime)
    }

    mutating func forget(_ user: AppUser) { users[user] = nil }

    // MARK: Apps

    /// Nil if it is to be read again.
    func app(_ id: String, at uptime: UInt64) -> AppUsage? {
        guard let app = apps[id], uptime < app.readAt &+ Self.appLifetime else { return nil }
        return app.usage
    }

    mutating func read(_ usage: AppUsage, ofApp app: String, at uptime: UInt64) {
        if apps.count >= Self.maxApps, apps[app] == nil { apps = [:] }
        apps[app] = App(usage: usage, readAt: uptime)
    }

    // MARK: Commits

    /// Takes in what a commit is about to add.
    ///
    /// - Parameter due: users whose additions are noticeable.
    /// - Returns: what the commit has to write of these.
    mutating func add(_ additions: [AppUser: UsageAmounts], due: Set<AppUser>) -> [AppUser: UsageAmounts] {
        var toWrite: [AppUser: UsageAmounts] = [:]
        for (user, amounts) in additions {
            makeRoom(for: user)
            users[user, default: User()].unsaved += amounts
            apps[user.app]?.usage.realms += Int(amounts.realms)
            apps[user.app]?.usage.clientFiles += Int(amounts.clientFiles)
            apps[user.app]?.usage.bytes += Int(amounts.bytes)
            if due.contains(user) { toWrite[user] = users[user]?.unsaved }
        }
        return toWrite
    }

    /// Notes that amounts are in the store now.
    mutating func written(_ amounts: [AppUser: UsageAmounts], at now: UInt64) {
        for (user, amounts) in amounts {
            guard var known = users[user] else { continue }
            known.unsaved = UsageAmounts()
            if let stored = known.stored {
                known.stored?.usage = (stored.usage ?? UserUsage(at: now)).adding(amounts, at: now)
            }
            users[user] = known
        }
    }

    private mutating func makeRoom(for user: AppUser) {
        if users.count >= Self.maxUsers, users[user] == nil { users = [:] }
    }
}
