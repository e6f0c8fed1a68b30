import Synchronization

/// Values of which a version tells whether they still hold; what a version does not name exactly is not found. Bounded: what would
/// be too much makes it forget everything else.
final class VersionedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var version: UInt64
        var value: Value
        var cost: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var cost = 0
    }

    private let maxCost: Int
    private let state = Mutex(State())

    init(maxCost: Int) { self.maxCost = maxCost }

    func value(_ key: Key, version: UInt64) -> Value? {
        state.withLock { state in
            guard let entry = state.entries[key], entry.version == version else { return nil }
            return entry.value
        }
    }

    /// Takes the place of an older version; a newer one stays.
    func insert(_ value: Value, for key: Key, version: UInt64, cost: Int) {
        state.withLock { state in
            if let known = state.entries[key] {
                guard known.version <= version else { return }
                state.cost -= known.cost
            }
            if state.cost + cost > maxCost {
                state.entries = [:]
                state.cost = 0
            }
            state.entries[key] = Entry(version: version, value: value, cost: cost)
            state.cost += cost
        }
    }

    var count: Int { state.withLock { $0.entries.count } }
}
