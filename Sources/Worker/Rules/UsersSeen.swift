import Storage

/// The users of each app that have changed, as far as a slice has heard, so that nothing is integrated that was let in for a user as it was
/// before.
///
/// Like rules, changes are in the control store before any process hears of them: an owner that begins anew knows no less once it has read
/// the app's settings, and reads the changes when a session was let in before the newest of them.
struct UsersSeen {
    enum Verdict: Equatable {
        /// The user is as it was when the session was let in.
        case current
        case changed
        /// The changes after this version have to be read (`learn`).
        case unknown(after: UInt64)
    }

    private struct Seen {
        /// Tells an app from an earlier one of the same name.
        var createdAt: UInt64
        /// The newest version of the app's users that the slice has heard of.
        var newest: UInt64
        /// The version after which changes are known up to `end`: each user who has changed between the two is in `changed`, with a version that
        /// is not lower than that of the change.
        var start: UInt64
        var end: UInt64
        var changed: [String: UInt64] = [:]
    }

    /// Apps, and users of all of them together. Beyond, what is needed is read again.
    static let maxApps = 10_000
    static let maxUsers = 100_000
    private var apps: [String: Seen] = [:]
    private var userCount = 0

    /// Whether the app's settings were read.
    func knows(_ app: String) -> Bool { apps[app] != nil }

    /// 0 for an app that nothing is known of.
    func newest(of app: String) -> UInt64 { apps[app]?.newest ?? 0 }

    /// A version of the app's users was read.
    mutating func see(_ version: UInt64, of app: String, createdAt: UInt64) {
        if let known = apps[app], known.createdAt == createdAt {
            if known.newest < version { apps[app]?.newest = version }
            return
        }
        if apps.count >= Self.maxApps { (apps, userCount) = ([:], 0) }
        userCount -= apps[app]?.changed.count ?? 0
        apps[app] = Seen(createdAt: createdAt, newest: version, start: version, end: version)
    }

    /// A user has changed; nil: any may have.
    mutating func hear(_ version: UInt64, of app: String, user: String?) {
        guard var seen = apps.removeValue(forKey: app) else { return }
        if let user, version == seen.end + 1, seen.newest <= version {
            if seen.changed.updateValue(version, forKey: user) == nil { userCount += 1 }
            seen.end = version
        }
        seen.newest = max(seen.newest, version)
        apps[app] = seen
        forgetUsers()
    }

    /// - Parameter version: of the app's users, at which the session was let in.
    func verdict(on user: String, of app: String, at version: UInt64) -> Verdict {
        guard let seen = apps[app], version < seen.newest else { return .current }
        guard version >= seen.start else { return .unknown(after: version) }
        guard seen.end == seen.newest else { return .unknown(after: seen.end) }
        return seen.changed[user].map { $0 > version } == true ? .changed : .current
    }

    /// Users that have changed after a version were read; nil: any may have.
    mutating func learn(_ users: Set<String>?, of app: String, after version: UInt64) {
        guard var seen = apps.removeValue(forKey: app) else { return }
        userCount -= seen.changed.count
        if let users {
            // When it was is not told: between what is known and the version that was asked for, or since.
            let latest = seen.end == seen.newest ? seen.start : seen.newest
            for user in users { seen.changed[user] = max(seen.changed[user] ?? 0, latest) }
            seen.start = min(seen.start, version)
        } else if seen.end < seen.newest {
            (seen.start, seen.changed) = (seen.newest, [:])
        }
        seen.end = seen.newest
        userCount += seen.changed.count
        apps[app] = seen
        forgetUsers()
    }

    /// Where that are too many.
    private mutating func forgetUsers() {
        guard userCount > Self.maxUsers else { return }
        apps = apps.mapValues { seen in
            var seen = seen
            (seen.start, seen.changed) = (seen.end, [:])
            return seen
        }
        userCount = 0
    }
}
