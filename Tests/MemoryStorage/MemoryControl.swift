import Storage
import SyncModel

/// What a control store holds, as one value: a change that fails leaves the value as it was.
struct MemoryControl: Sendable {
    struct Chunks: Hashable {
        var slice: SliceNumber
        var chunks: Int
    }

    struct ParkedKey: Hashable {
        var app: String
        var partition: String
        var clientFile: FileIdent
    }

    var sliceCount: Int?
    var apps: [String: AppRecord] = [:]
    var schemas: [String: Set<SchemaElement>] = [:]
    /// By app and id, and by app and address.
    var users: [[String]: UserRecord] = [:]
    var passwords: [[String]: PasswordRecord] = [:]
    var sessions: [String: LoginSessionRecord] = [:]
    var signingKeys: [SigningKeyRecord] = []
    /// Oldest first.
    var campaigns: [CampaignRecord] = []
    /// The parts of found reports that have come, by campaign.
    var chunks: [String: [Chunks: Set<Int>]] = [:]
    var entries: [CampaignEntryKey: CampaignEntry] = [:]
    /// In the order in which they were parked.
    var parked: [(key: ParkedKey, report: OutcomeReport)] = []

    func existingApp(_ id: String) throws -> AppRecord {
        guard let app = apps[id] else { throw StoreError(.notFound, "there is no app \(id)") }
        return app
    }

    mutating func insert(_ user: UserRecord) throws {
        guard users.updateValue(user, forKey: [user.app, user.id]) == nil else {
            throw StoreError(.alreadyExists, "there is a user \(user.id) of app \(user.app) already")
        }
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
        let found = entries.filter { $0.key.campaign == campaign && $0.value.foundAt != nil }.values
        func number(_ outcome: OutcomeClass) -> Int { found.count { $0.outcome == outcome } }
        return CampaignCounts(
            notified: found.count { $0.notifiedAt != nil }, recovered: number(.recovered),
            discarded: number(.discarded), manual: number(.manual), failed: number(.failed),
            superseded: number(.superseded), pending: number(.pending),
            unproven: found.count { $0.outcome == .recovered && $0.report?.isUnproven == true })
    }
}

/// One transaction's work on campaigns.
final class MemoryCampaignRows: CampaignRows {
    private(set) var content: MemoryControl

    init(_ content: MemoryControl) { self.content = content }

    func app(_ id: String) -> AppRecord? { content.apps[id] }
    func put(_ app: AppRecord) { content.apps[app.id] = app }

    func campaign(_ id: String) -> CampaignRecord? { content.campaigns.first { $0.id == id } }

    func put(_ campaign: CampaignRecord) {
        if let index = content.campaigns.firstIndex(where: { $0.id == campaign.id }) {
            content.campaigns[index] = campaign
        } else {
            content.campaigns.append(campaign)
        }
    }

    func closedCampaigns(of app: String, _ kind: CampaignRecord.Kind, beyond newest: Int) -> [String] {
        content.campaigns.filter { $0.app == app && $0.kind == kind && $0.state == .closed }
            .dropLast(newest).map(\.id)
    }

    func removeCampaign(_ id: String) {
        content.campaigns.removeAll { $0.id == id }
        content.chunks[id] = nil
        content.entries = content.entries.filter { $0.key.campaign != id }
    }

    func noteChunk(_ chunk: Int, of chunks: Int, from slice: SliceNumber, campaign: String) {
        content.chunks[campaign, default: [:]][.init(slice: slice, chunks: chunks), default: []].insert(chunk)
    }

    func slicesReported(to campaign: String) -> Int {
        Set(content.chunks[campaign, default: [:]].filter { $0.value.count == $0.key.chunks }.map(\.key.slice)).count
    }

    func entry(_ key: CampaignEntryKey) -> CampaignEntry? { content.entries[key] }
    func put(_ entry: CampaignEntry, _ key: CampaignEntryKey) { content.entries[key] = entry }

    func entries(
        app: String, partition: String, clientFile: FileIdent
    ) -> [(campaign: String, generation: UInt64, entry: CampaignEntry)] {
        content.campaigns.reversed().compactMap { campaign in
            let key = CampaignEntryKey(campaign: campaign.id, partition: partition, clientFile: clientFile)
            guard let entry = content.entries[key], entry.app == app else { return nil }
            return (campaign.id, campaign.generation, entry)
        }
    }

    func markFound(_ campaign: String, at now: UInt64) {
        for (key, entry) in content.entries where key.campaign == campaign && entry.foundAt == nil {
            content.entries[key]?.foundAt = now
        }
    }

    func counts(of campaign: String) -> CampaignCounts { content.counts(of: campaign) }

    func dropUnfound(beyond most: Int) -> Int {
        let unfound = content.entries.filter { $0.value.foundAt == nil }
            .sorted { $0.value.updatedAt < $1.value.updatedAt }
        for (key, _) in unfound.dropLast(most) { content.entries[key] = nil }
        return max(0, unfound.count - most)
    }

    func parkedOutcome(app: String, partition: String, clientFile: FileIdent) -> OutcomeReport? {
        let key = MemoryControl.ParkedKey(app: app, partition: partition, clientFile: clientFile)
        return content.parked.first { $0.key == key }?.report
    }

    func park(_ report: OutcomeReport) {
        let key = MemoryControl.ParkedKey(
            app: report.realm.app, partition: report.realm.partition, clientFile: report.identOld)
        content.parked.removeAll { $0.key == key }
        content.parked.append((key, report))
    }

    func removeParkedOutcome(app: String, partition: String, clientFile: FileIdent) {
        let key = MemoryControl.ParkedKey(app: app, partition: partition, clientFile: clientFile)
        content.parked.removeAll { $0.key == key }
    }

    func dropParkedOutcomes(beyond most: Int) -> Int {
        let excess = max(0, content.parked.count - most)
        content.parked.removeFirst(excess)
        return excess
    }
}
