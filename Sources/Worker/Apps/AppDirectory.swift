package import Storage

/// Apps and their settings, read again when what is known is older than a moment.
package actor AppDirectory {
    private struct Entry {
        var app: AppRecord?
        var readAt: ContinuousClock.Instant
    }

    private static let maxEntries = 1_000

    private let apps: any AppStore
    private let maxAge: Duration
    private var entries: [String: Entry] = [:]

    package init(apps: any AppStore, maxAge: Duration = .seconds(1)) {
        self.apps = apps
        self.maxAge = maxAge
    }

    /// Nil for an app that does not exist.
    package func app(_ id: String) async throws(StoreError) -> AppRecord? {
        if let entry = entries[id], entry.readAt.duration(to: .now) < maxAge { return entry.app }
        return try await latest(id)
    }

    /// The settings as they are now: whoever acts on an operator's command must not go by older ones.
    package func latest(_ id: String) async throws(StoreError) -> AppRecord? {
        let start = ContinuousClock.now
        let app = try await apps.app(id)
        if entries.count >= Self.maxEntries { entries.removeAll() }
        // A read that began later knows more, whichever came back first.
        if entries[id].map({ $0.readAt < start }) ?? true { entries[id] = Entry(app: app, readAt: start) }
        return app
    }

    package func all() async throws(StoreError) -> [AppRecord] { try await apps.apps() }
}
