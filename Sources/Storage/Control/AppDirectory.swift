import Synchronization

/// Apps and their settings as the store has them, remembered for a moment: every process asks at every turn.
///
/// A change is seen after `lifetime` at the latest, at once by whoever calls `forget` when told of it, and always by
/// `latest`. At most `maxEntries` are remembered, unknown ids among them; at that number all are forgotten.
package final class AppDirectory: Sendable {
    private struct Entry {
        var app: AppRecord?
        var readAt: ContinuousClock.Instant
        /// The entry's place among all readings and forgettings.
        var turn: UInt64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var turn: UInt64 = 0
        /// The last time that something was forgotten: what was being read then must not be remembered.
        var forgotten: UInt64 = 0
    }

    package static let maxEntries = 10_000
    package let schemas: AppSchemas
    package let rules: AppRules
    private let store: any AppStore
    private let lifetime: Duration
    private let state = Mutex(State())

    package init(store: any AppStore, lifetime: Duration = .seconds(1)) {
        self.store = store
        schemas = AppSchemas(store: store)
        rules = AppRules(store: store)
        self.lifetime = lifetime
    }

    /// Nil for an app that does not exist.
    package func app(_ id: String) async throws(StoreError) -> AppRecord? {
        if let known = remembered(id) { return known }
        return try await latest(id)
    }

    /// The record that `app` would return without a reading; nil if it would read.
    package func remembered(_ id: String) -> AppRecord?? {
        guard let entry = state.withLock({ $0.entries[id] }), entry.readAt.duration(to: .now) < lifetime else {
            return nil
        }
        return .some(entry.app)
    }

    /// The settings as they are now: whoever acts on an operator's command must not go by older ones.
    package func latest(_ id: String) async throws(StoreError) -> AppRecord? {
        // Ids come from outside; the store knows none that is longer.
        guard (1...AppRecord.maxIDBytes).contains(id.utf8.count) else { return nil }
        let start = ContinuousClock.now
        let turn = state.withLock { state in
            state.turn &+= 1
            return state.turn
        }
        let app = try await store.app(id)
        state.withLock { state in
            // A reading that began later knows more, whichever came back first.
            guard turn > state.forgotten, turn > state.entries[id]?.turn ?? 0 else { return }
            if state.entries.count >= Self.maxEntries { state.entries.removeAll() }
            state.entries[id] = Entry(app: app, readAt: start, turn: turn)
        }
        return app
    }

    /// The record that was read last, however long ago that was, but no longer than `limit`; nil if nothing was, or if that is known to be
    /// out of date. For a store that is away.
    package func lastKnown(_ id: String, within limit: Duration) -> AppRecord? {
        guard let entry = state.withLock({ $0.entries[id] }), entry.readAt.duration(to: .now) < limit else {
            return nil
        }
        return entry.app
    }

    /// The app's users that have changed since a version of them; nil if that cannot be told.
    package func userChanges(of id: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        try await store.userChanges(app: id, after: version)
    }

    /// The app's rules and users have these versions at least.
    ///
    /// - Returns: whether what was remembered is older, and forgotten now.
    @discardableResult
    package func hear(rulesVersion: UInt64 = 0, usersVersion: UInt64 = 0, of id: String) -> Bool {
        let isOlder = state.withLock { state in
            (state.entries[id]?.app).map { $0.rulesVersion < rulesVersion || $0.usersVersion < usersVersion } ?? false
        }
        if isOlder { forget(id) }
        return isOlder
    }

    /// The app's settings have changed.
    package func forget(_ id: String) {
        state.withLock { state in
            state.turn &+= 1
            state.forgotten = state.turn
            state.entries[id] = nil
        }
    }
}
