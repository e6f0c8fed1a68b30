import Storage
import SyncModel
import SyncProtocol
import Synchronization

/// The memory that the subscription sets of sessions take at the gateway, counted by user and by app, and its quotas.
///
/// Each session counts what its sets take, also where another has the same ones: what is shared today may be held by one alone tomorrow.
final class SetQuotas: Sendable {
    /// The bytes of a session's set in force, and of the set on its way.
    private struct Held {
        var user: AppUser
        var bytes = 0
        var ahead = 0
        var sum: Int { bytes + ahead }
    }

    private struct State {
        var sessions: [UInt64: Held] = [:]
        var users: [AppUser: Int] = [:]
        var apps: [String: Int] = [:]
    }

    /// A quota that a session's sets do not fit into.
    struct Refusal {
        var quota: Quota
        var limit: Int
    }

    /// Seconds after which a client may come again whose sets did not fit.
    static let patience = 30

    private let settings: QuotaValues
    private let state = Mutex(State())

    init(settings: QuotaValues) { self.settings = settings }

    /// The bytes that all sessions' sets take together.
    var bytes: Int { state.withLock { $0.apps.values.reduce(0, +) } }
    var isEmpty: Bool { state.withLock { $0.sessions.isEmpty && $0.users.isEmpty && $0.apps.isEmpty } }

    /// Notes what a session's set in force takes; nothing is noted of what is refused.
    ///
    /// - Parameter app: nil if its settings cannot be told at the moment.
    func set(_ number: UInt64, of user: AppUser, to bytes: Int, in app: AppRecord?) -> Refusal? {
        note(number, user, app) { $0 = Held(user: user, bytes: bytes) }
    }

    /// Notes what the set takes that a session's client asks for, in place of any that it has asked for before.
    func add(_ number: UInt64, of user: AppUser, ahead: Int, in app: AppRecord?) -> Refusal? {
        note(number, user, app) { $0.ahead = ahead }
    }

    func forget(_ number: UInt64) {
        state.withLock { state in
            guard let known = state.sessions.removeValue(forKey: number) else { return }
            Self.count(-known.sum, known.user, &state)
        }
    }

    private func note(
        _ number: UInt64, _ user: AppUser, _ app: AppRecord?, _ change: (inout Held) -> Void
    ) -> Refusal? {
        let ofUser = app?.quotas[.userSetBytes] ?? settings[.userSetBytes] ?? Quota.userSetBytes.standard
        let ofApp = app?.quotas[.setBytes] ?? settings[.setBytes] ?? Quota.setBytes.standard
        return state.withLock { state in
            let known = state.sessions[number] ?? Held(user: user)
            var held = known
            change(&held)
            let more = held.sum - known.sum
            if more > 0 {
                if state.users[user, default: 0] + more > ofUser { return Refusal(quota: .userSetBytes, limit: ofUser) }
                if state.apps[user.app, default: 0] + more > ofApp { return Refusal(quota: .setBytes, limit: ofApp) }
            }
            state.sessions[number] = held
            Self.count(more, user, &state)
            return nil
        }
    }

    private static func count(_ more: Int, _ user: AppUser, _ state: inout State) {
        let ofUser = state.users[user, default: 0] + more
        state.users[user] = ofUser > 0 ? ofUser : nil
        let ofApp = state.apps[user.app, default: 0] + more
        state.apps[user.app] = ofApp > 0 ? ofApp : nil
    }
}

extension ConnectionEnvironment {
    /// Notes what a session's set in force takes, with what was read of it.
    func holdSets(of number: UInt64, in realm: RealmName, user: AppUser) -> SetQuotas.Refusal? {
        sets.set(
            number, of: user, to: link.fans.bytes(of: number, in: realm),
            in: apps.lastKnown(realm.app, within: timings.withoutStore))
    }

    /// Notes what a set takes on its way: as text, and what is read of it.
    func holdSet(_ set: QuerySet, of number: UInt64, user: AppUser) -> SetQuotas.Refusal? {
        sets.add(
            number, of: user, ahead: 3 * set.text.utf8.count,
            in: apps.lastKnown(user.app, within: timings.withoutStore))
    }
}
