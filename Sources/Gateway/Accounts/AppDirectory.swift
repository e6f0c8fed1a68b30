import Storage
import Synchronization

/// Apps and their settings as the store has them, remembered for a moment; notices make it forget at once.
final class AppDirectory: Sendable {
    private struct Entry {
        var app: AppRecord?
        var at: UInt64
    }

    private static let maxEntries = 10_000
    private let store: any AppStore
    private let lifetime: UInt64
    private let clock: GatewayClock
    private let entries = Mutex<[String: Entry]>([:])
    /// Grows with every `forget`: what was read before one must not be remembered after it.
    private let forgotten = Mutex<UInt64>(0)

    init(store: any AppStore, lifetime: Duration, clock: GatewayClock) {
        self.store = store
        self.lifetime = lifetime.milliseconds
        self.clock = clock
    }

    /// Nil for an unknown app.
    func app(_ id: String) async throws -> AppRecord? {
        let now = clock.unixMilliseconds()
        if let entry = entries.withLock({ $0[id] }), now < entry.at &+ lifetime { return entry.app }
        guard (1...64).contains(id.utf8.count) else { return nil }
        let before = forgotten.withLock { $0 }
        let app = try await store.app(id)
        entries.withLock { entries in
            // In here, because `forget` counts first and removes then.
            guard forgotten.withLock({ $0 == before }) else { return }
            // Unknown names come from outside: the table must not grow with them.
            if entries.count >= Self.maxEntries { entries.removeAll() }
            entries[id] = Entry(app: app, at: now)
        }
        return app
    }

    func forget(_ id: String) {
        forgotten.withLock { $0 &+= 1 }
        entries.withLock { $0[id] = nil }
    }
}
