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

    /// Of the users that are remembered, in bytes of their custom data taken apart.
    static let maxUserBytes = 32 << 20
    private let store: any AccountStore
    private let rules: AppRules
    private let users = VersionedCache<AppUser, KnownUser>(maxCost: maxUserBytes)

    init(store: any AccountStore, rules: AppRules) {
        self.store = store
        self.rules = rules
    }

    /// What `judge` would decide without a reading; nil if it would read.
    func remembered(_ app: AppRecord, user: String, partition: String) -> Verdict? {
        guard let user = users.value(AppUser(app: app.id, user: user), version: app.usersVersion) else { return nil }
        guard app.rulesVersion > 0 else { return verdict(app, user, nil, partition) }
        guard let rules = rules.remembered(of: app) else { return nil }
        return verdict(app, user, rules, partition)
    }

    /// - Parameter partition: as the realm's name has it.
    func judge(_ app: AppRecord, user: String, partition: String) async throws(StoreError) -> Verdict {
        guard let known = try await self.user(user, of: app) else { return .noUser(reason: "invalid session") }
        return verdict(app, known, try await rules.document(of: app), partition)
    }

    private func verdict(_ app: AppRecord, _ user: KnownUser, _ rules: RulesDocument?, _ partition: String) -> Verdict {
        guard !user.isDisabled else { return .noUser(reason: "user disabled") }
        // The realm of an app in flexible mode, where roles say what may be done. Without rules nobody may do anything.
        if partition.isEmpty {
            return .judged(
                Judgement(
                    session: SessionRights(rules == nil ? .none : .readWrite, rulesVersion: app.rulesVersion),
                    roles: rules?.closedRoles(of: user.rules).text, usersVersion: app.usersVersion))
        }
        let rights = rules?.partitionRights(of: user.rules, partition: partition) ?? .none
        return .judged(
            Judgement(
                session: SessionRights(rights, rulesVersion: app.rulesVersion), usersVersion: app.usersVersion))
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
