import Storage

/// The newest version of each app's rules that a slice has seen: in the app's settings, or in what gateways say they went by.
///
/// Nothing is integrated under older ones. The control store has every version before any process hears of it, so an owner that
/// begins anew knows no less once it has read the settings.
struct RulesSeen {
    private struct Seen {
        var version: UInt64
        /// Tells an app from an earlier one of the same name.
        var createdAt: UInt64
    }

    /// The number of apps at which all versions are forgotten, to be read again.
    static let maxApps = 10_000
    private var apps: [String: Seen] = [:]

    /// Whether the app's settings were read.
    func knows(_ app: String) -> Bool { apps[app] != nil }

    /// 0 for an app that has no rules, or that nothing is known of.
    func newest(of app: String) -> UInt64 { apps[app]?.version ?? 0 }

    /// The app's settings were read; nil: there is no such app.
    mutating func see(_ app: AppRecord?, of id: String) {
        let read = Seen(version: app?.rulesVersion ?? 0, createdAt: app?.createdAt ?? 0)
        if let known = apps[id], known.createdAt == read.createdAt, known.version >= read.version { return }
        if apps.count >= Self.maxApps { apps = [:] }
        apps[id] = read
    }

    /// A gateway has gone by this version.
    mutating func hear(_ version: UInt64, of app: String) {
        guard let known = apps[app], known.version < version else { return }
        apps[app]?.version = version
    }
}
