import Messages
import Rules
import Storage
import SyncModel

/// Decides what users may do in partitions: by the current rules of the app and the user's current record, not by what a token
/// says.
///
/// Both are remembered by their versions, which the app's record has. So what is remembered is never wrong, only as old as that
/// record; and while the store is away only what it said last is gone by (`AppDirectory.lastKnown`).
final class RightsJudge: Sendable {
    private struct KnownUser {
        var rules: RuleUser
        var isDisabled: Bool
    }

    /// The limit for the users that are remembered, in bytes of their custom data taken apart.
    static let maxUserBytes = 32 << 20
    private let store: any AccountStore
    private let rules: AppRules
    private let users = VersionedCache<AppUser, KnownUser>(maxCost: maxUserBytes)

    init(store: any AccountStore, rules: AppRules) {
        self.store = store
        self.rules = rules
    }

    /// What `judge` would decide without a reading; nil if it would read.
    func remembered(_ app: AppRecord, _ wish: RightsWish) -> Verdict? {
        let key = AppUser(app: app.id, user: wish.user)
        guard let user = users.value(key, version: app.usersVersion) else { return nil }
        guard app.rulesVersion > 0 else { return verdict(app, user, nil, wish) }
        guard let rules = rules.remembered(of: app) else { return nil }
        return verdict(app, user, rules, wish)
    }

    func judge(_ app: AppRecord, _ wish: RightsWish) async throws(StoreError) -> Verdict {
        guard let known = try await self.user(wish.user, of: app) else { return .noUser(reason: "invalid session") }
        return verdict(app, known, try await rules.document(of: app), wish)
    }

    private func verdict(_ app: AppRecord, _ known: KnownUser, _ rules: RulesDocument?, _ wish: RightsWish) -> Verdict {
        guard !known.isDisabled else { return .noUser(reason: "user disabled") }
        var user = known.rules
        user.kind = wish.kind
        func rights(_ rights: PartitionRights) -> SessionRights {
            SessionRights(rights, rulesVersion: app.rulesVersion, usersVersion: app.usersVersion)
        }
        // The realm of an app in flexible mode, where roles say what may be done. Without rules nobody may do anything.
        if wish.partition.isEmpty {
            return .judged(
                Judgement(
                    session: rights(rules == nil ? .none : .readWrite), roles: rules?.closedRoles(of: user).text,
                    home: wish.home.flatMap { rules?.isHome($0, of: user) == true ? $0 : nil }))
        }
        return .judged(
            Judgement(session: rights(rules?.partitionRights(of: user, partition: wish.partition) ?? .none)))
    }

    /// The record may be newer than the version that it is remembered by, never older: the app's was read first.
    private func user(_ id: String, of app: AppRecord) async throws(StoreError) -> KnownUser? {
        let key = AppUser(app: app.id, user: id)
        if let known = users.value(key, version: app.usersVersion) { return known }
        guard let record = try await store.user(app: app.id, id: id) else { return nil }
        let known = KnownUser(rules: RuleUser(record), isDisabled: record.isDisabled)
        let bytes = record.customData?.utf8.count ?? 0
        users.insert(known, for: key, version: app.usersVersion, cost: 512 + bytes * 8)
        return known
    }
}

extension RulesDocument {
    /// Whether what a user makes may be of a partition that the user's client says it came from. Partition rules stay in the document of an app that
    /// has moved to flexible sync; where there are none, the roles alone say where objects may be.
    fileprivate func isHome(_ partition: String, of user: RuleUser) -> Bool {
        self.partition == nil || partitionRights(of: user, partition: partition) == .readWrite
    }
}
