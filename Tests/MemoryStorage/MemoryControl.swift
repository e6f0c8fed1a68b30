import Foundation
import Storage
import SyncModel

/// What a control store holds, as one value: a change that fails leaves the value as it was.
struct MemoryControl: Sendable {
    struct Chunks: Hashable {
        var slice: SliceNumber
        var chunks: Int
    }

    struct Place: Hashable {
        var campaign: String
        var clientRealm: ClientRealmKey
    }

    var cluster: ClusterRecord?
    var slicesMade: [SliceNumber: Epoch] = [:]
    var lastBackup: UInt64?
    var sliceCount: Int?
    var apps: [String: AppRecord] = [:]
    var schemaAuthors: [String: [SchemaElement: String]] = [:]
    var schemas: [String: Set<SchemaElement>] = [:]
    /// The rules of each app, oldest first.
    var rules: [String: [RulesRecord]] = [:]
    var deletions: [AppDeletionRecord] = []
    /// How far slices have come with deleted apps.
    var erased: [String: [SliceNumber: SliceErasureProgress]] = [:]
    /// The users by app and id, and by app and address.
    var users: [[String]: UserRecord] = [:]
    /// The users of each app that have changed, by version; nil for a change of any user.
    var userChanges: [String: [UInt64: String?]] = [:]
    var passwords: [[String]: PasswordRecord] = [:]
    var sessions: [String: LoginSessionRecord] = [:]
    var signingKeys: [SigningKeyRecord] = []
    /// The settings by app and provider.
    var loginSettings: [[String]: Data] = [:]
    var apiKeys: [APIKeyRecord] = []
    var mailTokens: [MailTokenRecord] = []
    var externalIdentities: [ExternalIdentity] = []
    var adminTokens: [String: AdminTokenRecord] = [:]
    /// Oldest first.
    var audit: [AuditEntry] = []
    /// Oldest first.
    var campaigns: [CampaignRecord] = []
    /// The parts of found reports that have come, by campaign.
    var chunks: [String: [Chunks: Set<Int>]] = [:]
    var entries: [Place: CampaignEntry] = [:]
    /// The reports in the order in which they were parked.
    var parked: [(key: ClientRealmKey, report: OutcomeReport)] = []

    func existingApp(_ id: String) throws -> AppRecord {
        guard let app = apps[id] else { throw StoreError(.notFound, "there is no app \(id)") }
        return app
    }

    mutating func insert(_ user: UserRecord) throws {
        guard users.updateValue(user, forKey: [user.app, user.id]) == nil else {
            throw StoreError(.alreadyExists, "there is a user \(user.id) of app \(user.app) already")
        }
    }

    mutating func replaceRules(
        app id: String, expecting version: UInt64, with change: RulesChange
    ) throws -> RulesRecord {
        let record = try RulesRecord.replacing(version, of: try existingApp(id), with: change)
        rules[id] = (rules[id, default: []] + [record]).suffix(RulesRecord.kept)
        apps[id]?.rulesVersion = record.version
        return record
    }

    mutating func changeUser(_ app: String, _ user: String, _ change: (inout UserRecord?) -> Void) throws {
        guard users[[app, user]] != nil else {
            throw StoreError(.notFound, "there is no user \(user) of app \(app)")
        }
        change(&users[[app, user]])
        changedUsers(of: app, user)
    }

    mutating func changedUsers(of app: String, _ user: String?) {
        guard let version = apps[app]?.usersVersion else { return }
        apps[app]?.usersVersion = version + 1
        userChanges[app, default: [:]].updateValue(user, forKey: version + 1)
        userChanges[app] = userChanges[app]?.filter { $0.key + UserRecord.keptChanges > version + 1 }
    }

    func registered(_ app: String, _ email: String) throws -> PasswordRecord {
        guard let password = passwords[[app, email]] else {
            throw StoreError(.notFound, "the address is not registered")
        }
        return password
    }

    func summary(_ campaign: CampaignRecord) -> CampaignSummary {
        CampaignSummary(campaign: campaign, counts: counts(of: campaign.id))
    }

    func counts(of campaign: String) -> CampaignCounts {
        entries.filter { $0.key.campaign == campaign && $0.value.clientRealm.foundAt != nil }.values
            .reduce(into: CampaignCounts()) { counts, entry in
                counts.add(
                    1, entry.clientRealm.outcome, notified: entry.clientRealm.notifiedAt == nil ? 0 : 1,
                    unproven: entry.isUnproven ? 1 : 0)
            }
    }
}

/// One transaction's work on campaigns.
final class MemoryCampaigns: CampaignTransaction {
    private(set) var content: MemoryControl

    init(_ content: MemoryControl) { self.content = content }

    func read(_ lookup: CampaignLookup) -> CampaignFindings {
        var found = CampaignFindings()
        found.apps = content.apps.filter { lookup.apps.contains($0.key) }
        for (number, record) in content.campaigns.enumerated() {
            if lookup.campaigns.contains(record.id) { found.campaigns[record.id] = record }
            found.standings[record.id] = (Int64(number), record.generation)
        }
        for (place, entry) in content.entries where lookup.clientRealms.contains(place.clientRealm) {
            found.entries[place.clientRealm, default: []].append(entry)
        }
        for (key, report) in content.parked where lookup.clientRealms.contains(key) { found.parked[key] = report }
        return found
    }

    func write(_ changes: CampaignChanges) {
        for app in changes.apps { content.apps[app.id] = app }
        for campaign in changes.campaigns {
            if let index = content.campaigns.firstIndex(where: { $0.id == campaign.id }) {
                content.campaigns[index] = campaign
            } else {
                content.campaigns.append(campaign)
            }
        }
        for chunk in changes.chunks {
            let series = MemoryControl.Chunks(slice: chunk.slice, chunks: chunk.chunks)
            content.chunks[chunk.campaign, default: [:]][series, default: []].insert(chunk.chunk)
        }
        for entry in changes.entries {
            content.entries[.init(campaign: entry.clientRealm.campaign, clientRealm: entry.key)] = entry
        }
        content.parked.removeAll { changes.unparked.contains($0.key) }
        for report in changes.parked {
            let key = ClientRealmKey(realm: report.realm, clientFile: report.identOld)
            content.parked.removeAll { $0.key == key }
            content.parked.append((key, report))
        }
        for entry in changes.audit { content.note(entry, keeping: changes.auditKept) }
    }

    func slicesReported(to campaigns: Set<String>) -> [String: Int] {
        content.chunks.filter { campaigns.contains($0.key) }.mapValues { parts in
            Set(parts.filter { $0.value.count == $0.key.chunks }.map(\.key.slice)).count
        }
    }

    func markFound(_ campaigns: Set<String>, at now: UInt64) {
        for (place, entry) in content.entries
        where campaigns.contains(place.campaign) && entry.clientRealm.foundAt == nil {
            content.entries[place]?.clientRealm.foundAt = now
        }
    }

    func counts(of campaigns: Set<String>) -> [String: CampaignCounts] {
        Dictionary(uniqueKeysWithValues: campaigns.map { ($0, content.counts(of: $0)) })
    }

    func closable(startedBefore time: UInt64, limit: Int) -> [CampaignRecord] {
        Array(
            content.campaigns.filter { [.counting, .running].contains($0.state) && $0.startedAt < time }.prefix(limit))
    }

    func giveUpPending(of campaign: String, limit: Int, at now: UInt64) -> Int {
        let pending = content.entries.filter {
            $0.key.campaign == campaign && $0.value.clientRealm.outcome == .pending
                && $0.value.clientRealm.foundAt != nil
        }.prefix(limit)
        for (place, _) in pending {
            content.entries[place]?.clientRealm.outcome = .unknown
            content.entries[place]?.clientRealm.updatedAt = now
        }
        return pending.count
    }

    func removeClosedCampaigns(ofApp app: String, beyond newest: Int) {
        for kind in CampaignRecord.Kind.allCases {
            let closed = content.campaigns.filter { $0.app == app && $0.kind == kind && $0.state == .closed }
            for old in closed.dropLast(newest).map(\.id) {
                content.campaigns.removeAll { $0.id == old }
                content.chunks[old] = nil
                content.entries = content.entries.filter { $0.key.campaign != old }
            }
        }
    }

    func removeUnfound(beyond most: Int) -> Int {
        let unfound = content.entries.filter { $0.value.clientRealm.foundAt == nil }
            .sorted { $0.value.clientRealm.updatedAt < $1.value.clientRealm.updatedAt }
        for (place, _) in unfound.dropLast(most) { content.entries[place] = nil }
        return max(0, unfound.count - most)
    }

    func removeParked(beyond most: Int) -> Int {
        let excess = max(0, content.parked.count - most)
        content.parked.removeFirst(excess)
        return excess
    }
}
