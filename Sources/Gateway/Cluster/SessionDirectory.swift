import Messages
import SyncModel
import Synchronization

/// Receives what the cluster says to a session. The link's tasks call it, so it only puts the event in a queue.
protocol SessionSink: AnyObject, Sendable {
    func deliver(_ event: SessionEvent, to number: UInt64)
    /// The app's settings may have changed.
    func settingsChanged(app: String)
}

/// Which sessions of this gateway want to hear of which realm and app.
final class SessionDirectory: Sendable {
    private struct Entry {
        var realm: RealmName
        // The connection outlives its sessions' entries: it removes them when it ends.
        var sink: any SessionSink
        /// The realm's sync generation as the session was bound; 0 before that.
        var generation: UInt64 = 0
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var byRealm: [RealmName: Set<UInt64>] = [:]
        var byApp: [String: Set<UInt64>] = [:]
        /// Begins anywhere, since owners still know the sessions of this gateway's last process. Exact in any JSON number.
        var nextNumber = UInt64.random(in: 1...(1 << 48))
    }

    private let state = Mutex(State())

    func nextNumber() -> UInt64 {
        state.withLock { state in
            defer { state.nextNumber &+= 1 }
            return state.nextNumber
        }
    }

    func add(_ number: UInt64, realm: RealmName, sink: any SessionSink) {
        state.withLock { state in
            state.entries[number] = Entry(realm: realm, sink: sink)
            state.byRealm[realm, default: []].insert(number)
            state.byApp[realm.app, default: []].insert(number)
        }
    }

    /// False if it was not there.
    @discardableResult
    func remove(_ number: UInt64) -> Bool {
        state.withLock { state in
            guard let entry = state.entries.removeValue(forKey: number) else { return false }
            state.byRealm[entry.realm]?.remove(number)
            if state.byRealm[entry.realm]?.isEmpty == true { state.byRealm[entry.realm] = nil }
            state.byApp[entry.realm.app]?.remove(number)
            if state.byApp[entry.realm.app]?.isEmpty == true { state.byApp[entry.realm.app] = nil }
            return true
        }
    }

    var count: Int { state.withLock { $0.entries.count } }

    func deliver(_ event: SessionEvent, to number: UInt64) {
        let sink = state.withLock { $0.entries[number]?.sink }
        sink?.deliver(event, to: number)
    }

    func deliver(_ event: SessionEvent, toRealm realm: RealmName) {
        for (number, sink) in targets({ $0.byRealm[realm] }) { sink.deliver(event, to: number) }
    }

    func deliver(_ event: SessionEvent, toApp app: String) {
        for (number, sink) in targets({ $0.byApp[app] }) { sink.deliver(event, to: number) }
    }

    /// Delivers a generation, which owners repeat for ever, only to the sessions that are behind it.
    func deliver(_ notice: GenerationNotice) {
        let behind = targets { state in
            state.byApp[notice.app]?.filter { number in
                guard let generation = state.entries[number]?.generation else { return false }
                return generation > 0 && generation < notice.generation
            }
        }
        for (number, sink) in behind { sink.deliver(.generation(notice), to: number) }
    }

    /// The session is bound, to a realm in this generation.
    func bound(_ number: UInt64, generation: UInt64) {
        state.withLock { $0.entries[number]?.generation = generation }
    }

    func deliverToAll(_ event: SessionEvent) {
        for (number, sink) in targets({ Set($0.entries.keys) }) { sink.deliver(event, to: number) }
    }

    func settingsChanged(app: String) {
        var told = Set<ObjectIdentifier>()
        for (_, sink) in targets({ $0.byApp[app] }) where told.insert(ObjectIdentifier(sink)).inserted {
            sink.settingsChanged(app: app)
        }
    }

    private func targets(_ select: (State) -> Set<UInt64>?) -> [(UInt64, any SessionSink)] {
        state.withLock { state in
            (select(state) ?? []).compactMap { number in state.entries[number].map { (number, $0.sink) } }
        }
    }
}
