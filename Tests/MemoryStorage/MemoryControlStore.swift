package import Storage
package import SyncModel
import Synchronization

/// A control store in memory, which is no database: dictionaries that are searched whole.
package final class MemoryControlStore: ControlStore {
    private let held = Mutex(MemoryControl())

    package init() {}

    var content: MemoryControl { held.withLock { $0 } }

    /// All changes that `body` makes, or none.
    func change<Value: Sendable>(
        _ body: (inout MemoryControl) throws -> Value
    ) throws(StoreError) -> Value {
        do {
            return try held.withLock { content in
                var changed = content
                let value = try body(&changed)
                content = changed
                return value
            }
        } catch {
            throw error as? StoreError ?? StoreError(.corrupt, "the control store cannot be changed", underlying: error)
        }
    }

    // MARK: The cluster

    package func cluster() async throws(StoreError) -> ClusterRecord? { content.cluster }

    package func cluster(orCreate new: ClusterRecord) async throws(StoreError) -> ClusterRecord {
        try change { content in
            let cluster = content.cluster ?? new
            content.cluster = cluster
            return cluster
        }
    }

    package func updateCluster(
        _ change: @escaping @Sendable (inout ClusterRecord) -> Void
    ) async throws(StoreError) -> ClusterRecord {
        try self.change { content in
            guard var cluster = content.cluster else { throw StoreError(.notFound, "there is no cluster's id") }
            change(&cluster)
            content.cluster = cluster
            return cluster
        }
    }

    package func slicesMade() async throws(StoreError) -> [SliceNumber: Epoch] { content.slicesMade }

    package func recordSlice(_ slice: SliceNumber, epoch: Epoch) async throws(StoreError) {
        try change { $0.slicesMade[slice] = max(epoch, $0.slicesMade[slice] ?? epoch) }
    }

    package func forgetSlice(_ slice: SliceNumber) async throws(StoreError) {
        try change { $0.slicesMade[slice] = nil }
    }

    package func lastBackup() async throws(StoreError) -> UInt64? { content.lastBackup }

    package func recordBackup(of moment: UInt64) async throws(StoreError) {
        try change { $0.lastBackup = max(moment, $0.lastBackup ?? moment) }
    }

    // MARK: Apps

    package func app(_ id: String) async throws(StoreError) -> AppRecord? { content.apps[id] }

    package func apps() async throws(StoreError) -> [AppRecord] { content.apps.values.sorted { $0.id < $1.id } }

    package func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {
        try change { content in
            if let deletion = content.deletion(of: app.id) { throw deletion.refusal }
            var app = app
            app.rulesVersion = 0
            guard content.apps.updateValue(app, forKey: app.id) == nil else {
                throw StoreError(.alreadyExists, "there is an app \(app.id) already")
            }
            if let rules { _ = try content.replaceRules(app: app.id, expecting: 0, with: rules) }
        }
    }

    package func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord {
        try self.change { content in
            let app = try content.existingApp(id).changed(by: change)
            content.apps[id] = app
            return app
        }
    }

    package func sliceCount(orCreate count: Int) async throws(StoreError) -> Int {
        try change { content in
            let recorded = content.sliceCount ?? count
            content.sliceCount = recorded
            return recorded
        }
    }

    package func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement] {
        content.schemas[app, default: []].sorted {
            ($0.className, $0.property ?? "", $0.type) < ($1.className, $1.property ?? "", $1.type)
        }
    }

    package func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement]
    {
        elements.filter { content.schemas[app, default: []].contains($0) }
    }

    package func extendSchema(
        ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        try change { content in
            _ = try content.existingApp(app)
            for element in elements where content.schemas[app, default: []].insert(element).inserted {
                content.schemaAuthors[app, default: [:]][element] = author?.user
            }
            if let author {
                let own = content.schemaAuthors[app, default: [:]].values.count { $0 == author.user }
                guard own <= author.limit else { throw SchemaElement.full(app, of: author, own) }
            }
            let count = content.schemas[app]?.count ?? 0
            guard count <= SchemaElement.maxPerApp else { throw SchemaElement.full(app, count) }
        }
    }

    package func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int {
        try change { content in
            _ = try content.existingApp(app)
            let gone = content.schemas[app, default: []].intersection(elements)
            content.schemas[app]?.subtract(gone)
            for element in gone { content.schemaAuthors[app]?[element] = nil }
            if !gone.isEmpty { content.apps[app]?.schemaVersion += 1 }
            return gone.count
        }
    }

    // MARK: Rules

    package func rules(app: String, version: UInt64) async throws(StoreError) -> RulesRecord? {
        content.rules[app]?.first { $0.version == version }
    }

    package func rulesHistory(app: String, after: UInt64?, limit: Int) async throws(StoreError) -> [RulesHeading] {
        content.rules[app, default: []].reversed().filter { $0.version < after ?? .max }.prefix(max(limit, 0))
            .map(\.heading)
    }

    package func replaceRules(
        app: String, expecting version: UInt64, with change: RulesChange
    ) async throws(StoreError) -> RulesRecord {
        try self.change { try $0.replaceRules(app: app, expecting: version, with: change) }
    }

    // MARK: Accounts

    package func userCount(app: String) async throws(StoreError) -> Int {
        content.users.values.count { $0.app == app }
    }

    package func user(app: String, id: String) async throws(StoreError) -> UserRecord? { content.users[[app, id]] }

    package func insert(_ user: UserRecord) async throws(StoreError) { try change { try $0.insert(user) } }

    package func users(app: String, after: String?, limit: Int) async throws(StoreError) -> [UserRecord] {
        Array(
            content.users.values.filter { $0.app == app && $0.id > after ?? "" }.sorted { $0.id < $1.id }
                .prefix(max(limit, 0)))
    }

    package func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>? {
        let content = content
        guard let newest = content.apps[app]?.usersVersion, newest >= version else { return nil }
        let changes = content.userChanges[app, default: [:]].filter { $0.key > version }
        guard UInt64(changes.count) == newest - version else { return nil }
        let users = Set(changes.values.compactMap { $0 })
        return changes.values.contains(nil) ? nil : users
    }

    package func setDisabled(_ disabled: Bool, app: String, user: String) async throws(StoreError) {
        try change { try $0.changeUser(app, user) { $0?.isDisabled = disabled } }
    }

    package func setCustomData(_ customData: String?, app: String, user: String) async throws(StoreError) {
        let customData = try UserRecord.checked(customData: customData)
        try change { try $0.changeUser(app, user) { $0?.customData = customData } }
    }

    package func removeUser(app: String, id: String) async throws(StoreError) {
        try change { content in
            try content.changeUser(app, id) { $0 = nil }
            content.passwords = content.passwords.filter { $0.value.app != app || $0.value.userID != id }
            content.sessions = content.sessions.filter { $0.value.app != app || $0.value.userID != id }
        }
    }

    package func revokeLoginSessions(app: String, user: String?) async throws(StoreError) -> Int {
        try change { content in
            _ = try content.existingApp(app)
            let live = content.sessions.values.filter {
                $0.app == app && !$0.isRevoked && $0.userID == user ?? $0.userID
            }
            for session in live { content.sessions[session.id]?.isRevoked = true }
            content.changedUsers(of: app, user)
            return live.count
        }
    }

    package func register(_ password: PasswordRecord) async throws(StoreError) {
        try change { content in
            let known = content.passwords.updateValue(password, forKey: [password.app, password.email])
            guard known == nil || known?.pending != nil else {
                throw StoreError(.alreadyExists, "the address is registered already")
            }
        }
    }

    package func password(app: String, email: String) async throws(StoreError) -> PasswordRecord? {
        content.passwords[[app, email]]
    }

    package func setPasswordHash(
        _ hash: String, replacing old: String, app: String, email: String
    ) async throws(StoreError) {
        try change { content in
            guard try content.registered(app, email).passwordHash == old else { return }
            content.passwords[[app, email]]?.passwordHash = hash
        }
    }

    package func adopt(_ user: UserRecord, app: String, email: String) async throws(StoreError) -> String {
        try change { content in
            if let known = try content.registered(app, email).userID { return known }
            try content.insert(user)
            content.passwords[[app, email]]?.userID = user.id
            return user.id
        }
    }

    package func insert(_ session: LoginSessionRecord) async throws(StoreError) {
        try change { content in
            content.sessions = content.sessions.filter { $0.value.expiresAt >= session.createdAt }
            guard content.sessions.updateValue(session, forKey: session.id) == nil else {
                throw StoreError(.alreadyExists, "there is a login session \(session.id) already")
            }
        }
    }

    package func loginSession(_ id: String) async throws(StoreError) -> LoginSessionRecord? { content.sessions[id] }

    package func hasLoginSession(app: String, user: String, origin: String) async throws(StoreError) -> Bool {
        content.sessions.values.contains { $0.app == app && $0.userID == user && $0.origin == origin }
    }

    package func touchLoginSession(_ id: String, at: UInt64) async throws(StoreError) {
        try change { content in
            guard let last = content.sessions[id]?.lastUsedAt else { return }
            content.sessions[id]?.lastUsedAt = max(last, at)
        }
    }

    package func revokeLoginSession(_ id: String) async throws(StoreError) {
        try change { $0.sessions[id]?.isRevoked = true }
    }

    package func signingKeys(
        purpose: String, orCreate candidate: SigningKeyRecord
    ) async throws(StoreError) -> [SigningKeyRecord] {
        try change { content in
            let known = content.signingKeys.filter { $0.purpose == purpose }
            guard known.isEmpty else {
                return known.sorted { $0.createdAt == $1.createdAt ? $0.id < $1.id : $0.createdAt > $1.createdAt }
            }
            guard candidate.purpose == purpose else {
                throw StoreError(.mismatch, "the new key is for \(candidate.purpose), expected \(purpose)")
            }
            content.signingKeys.append(candidate)
            return [candidate]
        }
    }

    package func signingKeys() async throws(StoreError) -> [SigningKeyRecord] { content.signingKeys }

    package func addSigningKey(
        _ key: SigningKeyRecord, unlessNewerThan limit: UInt64
    ) async throws(StoreError) -> Bool {
        try change { content in
            let newest = content.signingKeys.filter { $0.purpose == key.purpose }.map(\.createdAt).max()
            if let newest, newest > limit { return false }
            var key = key
            key.createdAt = max(key.createdAt, newest.map { $0 + 1 } ?? 0)
            content.signingKeys.append(key)
            return true
        }
    }

    package func removeSigningKeys(_ ids: [String]) async throws(StoreError) {
        try change { $0.signingKeys.removeAll { ids.contains($0.id) } }
    }

    // MARK: Campaigns

    package func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try self.change { content in
            let campaigns = MemoryCampaigns(content)
            let value = try change(campaigns)
            content = campaigns.content
            return value
        }
    }

    package func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        content.campaigns.filter { $0.state == .publishing }
    }

    package func campaigns(
        _ filter: CampaignFilter, after: String?, limit: Int
    ) async throws(StoreError) -> [CampaignSummary] {
        let content = content
        var newestFirst = content.campaigns.reversed()[...]
        if let after { newestFirst = newestFirst.drop { $0.id != after }.dropFirst() }
        return newestFirst.filter { campaign in
            (filter.app == nil || campaign.app == filter.app) && (campaign.kind == .account) == filter.accounts
                && !(filter.isOpen && campaign.state == .closed)
                && (filter.search.map { search in
                    [campaign.id, campaign.reason ?? ""].contains {
                        "\($0) ".lowercased().contains(search.lowercased())
                    }
                } ?? true)
        }.prefix(max(limit, 0)).map(content.summary)
    }

    package func campaign(_ id: String) async throws(StoreError) -> CampaignSummary? {
        let content = content
        guard let campaign = content.campaigns.first(where: { $0.id == id }) else { return nil }
        var summary = content.summary(campaign)
        summary.slices = Self.slices(of: id, content)
        return summary
    }

    package func newestCampaigns() async throws(StoreError) -> [CampaignSummary] {
        let content = content
        let newest = Dictionary(
            content.campaigns.filter { $0.kind != .account }.map { ($0.app, $0) },
            uniquingKeysWith: { _, newer in newer })
        return newest.values.sorted { $0.app < $1.app }.map(content.summary)
    }

    private static func slices(of id: String, _ content: MemoryControl) -> [CampaignSlice] {
        let reported = content.chunks[id, default: [:]].map { key, parts in
            let found = content.entries.count { $0.key.campaign == id && $0.value.slice == key.slice }
            return CampaignSlice(slice: key.slice, chunks: key.chunks, chunksReported: parts.count, found: found)
        }
        // A slice that changed hands may have counted twice, in other chunks: the fuller count stands.
        func isFuller(_ one: CampaignSlice, _ other: CampaignSlice) -> Bool {
            let complete = (one.chunksReported == one.chunks, other.chunksReported == other.chunks)
            return complete.0 == complete.1 ? one.chunksReported > other.chunksReported : complete.0
        }
        return Dictionary(grouping: reported, by: \.slice).values
            .compactMap { $0.min(by: isFuller) }.sorted { $0.slice < $1.slice }
    }

    package func clientRealms(
        campaign: String, _ filter: ClientRealmFilter, after: ClientRealmCursor?, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        let listed = content.entries.values.map(\.clientRealm)
            .filter { $0.campaign == campaign && $0.foundAt != nil }
        return Array(
            listed.filter { realm in
                (filter.outcome == nil || realm.outcome == filter.outcome)
                    && (filter.partition == nil || realm.partition == filter.partition)
                    && (filter.user == nil || realm.user == filter.user)
                    && (after.map { (realm.partition, realm.clientFile) > ($0.partition, $0.clientFile) } ?? true)
            }.sorted { ($0.partition, $0.clientFile) < ($1.partition, $1.clientFile) }.prefix(max(limit, 0)))
    }

    package func clientRealmHistory(
        _ key: ClientRealmKey, limit: Int
    ) async throws(StoreError) -> [CampaignClientRealm] {
        let content = content
        let all = content.campaigns.reversed()
            .compactMap { content.entries[.init(campaign: $0.id, clientRealm: key)]?.clientRealm }
        return Array(all.filter { $0.foundAt != nil }.prefix(max(limit, 0)))
    }
}
