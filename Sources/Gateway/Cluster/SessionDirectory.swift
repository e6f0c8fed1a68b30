import Messages
import Storage
import SyncModel
import Synchronization

/// Receives what the cluster says to a session. The link's tasks call it, so it only puts the event in a queue.
protocol SessionSink: AnyObject, Sendable {
    func deliver(_ event: SessionEvent, to number: UInt64)
    /// The app's settings may have changed.
    func settingsChanged(app: String)
    /// Rules or users have changed: decides again what these sessions may do.
    func judgeAgain(_ numbers: [UInt64], by app: AppRecord, checksLogin: Bool) async throws
}

/// Sessions of one connection that are to be judged again.
struct DueSessions: Sendable {
    let sink: any SessionSink
    var numbers: [UInt64]
    /// Whether it is the user that has changed.
    var checksLogin: Bool
}

/// The sessions of this gateway: which of them want to hear of which realm and app.
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
        var judged: [String: JudgedSessions] = [:]
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

    /// - Returns: whether the session is due to be judged again already: something has changed while it began.
    func add(_ number: UInt64, realm: RealmName, user: String, sink: any SessionSink, judged: JudgedBy) -> Bool {
        state.withLock { state in
            state.entries[number] = Entry(realm: realm, sink: sink)
            state.byRealm[realm, default: []].insert(number)
            state.byApp[realm.app, default: []].insert(number)
            state.judged[realm.app, default: JudgedSessions(coveredBy: judged)].add(number, user: user, judged: judged)
            return state.judged[realm.app]?.hasDue == true
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
            state.judged[entry.realm.app]?.remove(number)
            if state.judged[entry.realm.app]?.isEmpty == true { state.judged[entry.realm.app] = nil }
            return true
        }
    }

    var count: Int { state.withLock { $0.entries.count } }
    /// How many sessions each app has.
    var counts: [String: Int] { state.withLock { $0.byApp.mapValues(\.count) } }

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

    // MARK: Judging again

    /// Apps with sessions here.
    var apps: [String] { state.withLock { Array($0.byApp.keys) } }

    /// The versions that the app's sessions hold by; nil if it has none.
    func covered(of app: String) -> JudgedBy? { state.withLock { $0.judged[app]?.covered } }

    func cover(_ app: String, by now: JudgedBy, changed: Set<String>?) {
        state.withLock { $0.judged[app]?.cover(now, changed: changed) }
    }

    func judged(_ number: UInt64, by judged: JudgedBy) {
        state.withLock { state in
            guard let app = state.entries[number]?.realm.app else { return }
            state.judged[app]?.judged(number, by: judged)
        }
    }

    /// Takes out some of the app's sessions that are due, by connection.
    func takeDue(of app: String, atMost count: Int) -> [DueSessions] {
        state.withLock { state in
            var found: [ObjectIdentifier: DueSessions] = [:]
            for (number, isUser) in state.judged[app]?.takeDue(atMost: count) ?? [] {
                guard let sink = state.entries[number]?.sink else { continue }
                let id = ObjectIdentifier(sink)
                found[id, default: DueSessions(sink: sink, numbers: [], checksLogin: false)].numbers.append(number)
                if isUser { found[id]?.checksLogin = true }
            }
            return Array(found.values)
        }
    }

    func putBack(_ sessions: DueSessions, of app: String) {
        state.withLock { state in
            state.judged[app]?.putBack(sessions.numbers.map { (number: $0, isUser: sessions.checksLogin) })
        }
    }

    private func targets(_ select: (State) -> Set<UInt64>?) -> [(UInt64, any SessionSink)] {
        state.withLock { state in
            (select(state) ?? []).compactMap { number in state.entries[number].map { (number, $0.sink) } }
        }
    }
}
