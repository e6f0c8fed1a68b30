import Storage
import SyncModel

/// Decides what reports about campaigns change: a value that holds what the store has, and what the reports have made of it.
/// Reports may come in any order and any number of times.
///
/// A notification or outcome that comes before the found report makes an entry without `foundAt`, which counts nowhere until the
/// slice reports. When every slice has reported, entries that no slice has listed count as found too: their clients were told to
/// reset in this campaign's name, and must not be lost.
struct CampaignAccounts {
    private struct Place: Hashable {
        var campaign: String
        var key: ClientRealmKey
    }

    private let slices: Int
    private let now: UInt64
    private var known: CampaignFindings
    private var changedApps: Set<String> = []
    /// The changed campaigns in the order in which they were opened or raised.
    private var changedCampaigns: [String] = []
    private var chunks: Set<CampaignChanges.Chunk> = []
    private var changedEntries: Set<Place> = []
    private var parkings: [ClientRealmKey] = []
    private(set) var effects = CampaignEffects()
    /// Campaigns whose progress and state the changes may have altered.
    private(set) var touched: [String] = []
    private(set) var madeEarlyEntry = false

    /// - Parameter known: what `CampaignLookup.init(_:)` names for the reports.
    init(_ known: CampaignFindings, slices: Int, now: UInt64) {
        self.known = known
        self.slices = slices
        self.now = now
    }

    /// The recorded campaigns that the reports name.
    var campaigns: [String: CampaignRecord] { known.campaigns }

    var changes: CampaignChanges {
        var changes = CampaignChanges()
        changes.apps = changedApps.compactMap { known.apps[$0] }
        changes.campaigns = changedCampaigns.compactMap { known.campaigns[$0] }
        changes.chunks = chunks
        changes.entries = changedEntries.compactMap { entry(of: $0.key, in: $0.campaign) }
        changes.unparked = Set(parkings.filter { known.parked[$0] == nil })
        changes.parked = parkings.compactMap { known.parked[$0] }
        return changes
    }

    mutating func apply(_ reports: [CampaignReport]) {
        for (index, report) in reports.enumerated() {
            do throws(Refusal) {
                try apply(report)
            } catch {
                effects.rejected.append(.init(index: index, reason: error.reason))
            }
        }
    }

    /// Why a report can never be applied. Thrown before anything is changed for it.
    private struct Refusal: Error { var reason: String }

    private mutating func apply(_ report: CampaignReport) throws(Refusal) {
        guard let app = known.apps[report.app] else {
            throw Refusal(reason: "there is no app \(report.app.prefix(64))")
        }
        if let problem = report.problem { throw Refusal(reason: problem) }
        if let campaign = report.campaign, let owner = known.campaigns[campaign]?.app, owner != report.app {
            throw Refusal(reason: "campaign \(campaign) is app \(owner)'s, not \(report.app.prefix(64))'s")
        }
        switch report {
        case .found(let found): try apply(found, app: app)
        case .notified(let notified): apply(notified)
        case .outcome(let outcome): try apply(outcome)
        }
    }

    private mutating func touch(_ campaign: String) {
        if !touched.contains(campaign) { touched.append(campaign) }
    }

    // MARK: Found

    private mutating func apply(_ report: FoundReport, app: AppRecord) throws(Refusal) {
        guard let kind = CampaignRecord.Kind(rawValue: report.kind) else {
            throw Refusal(
                reason: "kind: expected termination, reset, erasure or account, found \(report.kind.prefix(40))")
        }
        if let campaign = known.campaigns[report.campaign] {
            if report.generation > campaign.generation {
                known.campaigns[report.campaign]?.generation = report.generation
                known.standings[report.campaign]?.generation = report.generation
                if !changedCampaigns.contains(campaign.id) { changedCampaigns.append(campaign.id) }
            }
        } else {
            open(
                CampaignRecord(
                    id: report.campaign, app: report.app, kind: kind, reason: report.reason, startedAt: now,
                    generation: report.generation, state: .counting,
                    slicesExpected: kind == .termination ? slices : 1))
        }
        if kind == .termination, report.generation > app.generation {
            known.apps[app.id]?.generation = report.generation
            changedApps.insert(app.id)
            if !effects.raisedApps.contains(app.id) { effects.raisedApps.append(app.id) }
        }
        chunks.insert(
            .init(campaign: report.campaign, slice: report.slice, chunks: report.chunks, chunk: report.chunk))
        for realm in report.clientRealms { find(realm, report) }
        touch(report.campaign)
    }

    /// Only the store gives a campaign its number; until then it is higher than any that the store has given.
    private mutating func open(_ campaign: CampaignRecord) {
        known.campaigns[campaign.id] = campaign
        known.standings[campaign.id] = (number: .max / 2 + Int64(effects.opened.count), campaign.generation)
        changedCampaigns.append(campaign.id)
        effects.opened.append(campaign)
    }

    private mutating func find(_ realm: FoundReport.ClientRealm, _ report: FoundReport) {
        let key = ClientRealmKey(realm: report.name(of: realm), clientFile: realm.clientFile)
        var entry = entry(of: key, in: report.campaign) ?? newEntry(key, campaign: report.campaign, user: realm.user)
        let isNew = entry.clientRealm.foundAt == nil
        // A client that reported before its slice had said whose the realm is may have been a stranger.
        if entry.clientRealm.report?.evidence == .client, isStranger(entry.clientRealm.user, to: realm.user) {
            entry.clientRealm.report = nil
        }
        entry.slice = report.slice
        entry.clientRealm.user = realm.user
        entry.clientRealm.lastSeen = max(entry.clientRealm.lastSeen, realm.lastSeen)
        entry.clientRealm.foundAt = entry.clientRealm.foundAt ?? now
        entry.clientRealm.reason = entry.clientRealm.reason ?? realm.reason
        if isNew, let parked = known.parked.removeValue(forKey: key) {
            parkings.append(key)
            if parked.evidence != .client || !isStranger(parked.user, to: realm.user) { entry.consider(parked) }
        }
        put(entry)
        if isNew { supersedeAllButTheLast(of: key) }
    }

    /// Where several campaigns want one client realm to reset, that of the highest sync generation accounts for its reset: a
    /// termination takes over every client realm that has yet to reset. Whatever order the reports come in, the result is the
    /// same.
    private mutating func supersedeAllButTheLast(of key: ClientRealmKey) {
        let all = recordedEntries(of: key)
        guard let last = all.max(by: { $0.generation < $1.generation }) else { return }
        for earlier in all
        where earlier.generation < last.generation && earlier.entry.clientRealm.supersededBy == nil {
            var entry = earlier.entry
            entry.clientRealm.supersededBy = last.entry.clientRealm.campaign
            put(entry)
            touch(entry.clientRealm.campaign)
        }
    }

    // MARK: Notified and outcomes

    private mutating func apply(_ report: NotifiedReport) {
        let key = ClientRealmKey(realm: report.realm, clientFile: report.clientFile)
        let stored = entry(of: key, in: report.campaign)
        var entry = stored ?? newEntry(key, campaign: report.campaign, user: "")
        entry.clientRealm.notifiedAt = min(entry.clientRealm.notifiedAt ?? .max, report.at)
        use(entry, isNew: stored == nil)
    }

    private mutating func apply(_ report: OutcomeReport) throws(Refusal) {
        let key = ClientRealmKey(realm: report.realm, clientFile: report.identOld)
        guard let campaign = report.campaign ?? campaignAccounting(for: key) else { return park(report, key) }
        let stored = entry(of: key, in: campaign)
        var entry = stored ?? newEntry(key, campaign: campaign, user: report.user)
        if report.evidence == .client, isStranger(report.user, to: entry.clientRealm.user) {
            throw Refusal(reason: "client file \(report.identOld) is not the reporting user's")
        }
        if entry.clientRealm.user.isEmpty { entry.clientRealm.user = report.user }
        entry.consider(report)
        use(entry, isNew: stored == nil)
    }

    private mutating func use(_ entry: CampaignEntry, isNew: Bool) {
        put(entry)
        if isNew { supersedeAllButTheLast(of: entry.key) }
        if entry.clientRealm.foundAt == nil { madeEarlyEntry = true }
        if known.standings[entry.clientRealm.campaign] != nil { touch(entry.clientRealm.campaign) }
    }

    /// The campaign that accounts for a client realm, as a client knows no campaigns: the newest of those that list the client
    /// realm, one that is not superseded if there is any.
    private func campaignAccounting(for key: ClientRealmKey) -> String? {
        let all = recordedEntries(of: key).map(\.entry.clientRealm)
        return (all.first { $0.supersededBy == nil } ?? all.first)?.campaign
    }

    private mutating func park(_ report: OutcomeReport, _ key: ClientRealmKey) {
        effects.parked += 1
        if let waiting = known.parked[key], !report.supersedes(waiting) { return }
        known.parked[key] = report
        parkings.removeAll { $0 == key }
        parkings.append(key)
    }

    // MARK: Entries

    private func newEntry(_ key: ClientRealmKey, campaign: String, user: String) -> CampaignEntry {
        CampaignEntry(
            app: key.realm.app,
            clientRealm: CampaignClientRealm(
                campaign: campaign, partition: key.realm.partition, clientFile: key.clientFile, user: user,
                updatedAt: now))
    }

    private func entry(of key: ClientRealmKey, in campaign: String) -> CampaignEntry? {
        known.entries[key]?.first { $0.clientRealm.campaign == campaign }
    }

    private mutating func put(_ entry: CampaignEntry) {
        var entry = entry
        entry.settle()
        entry.clientRealm.updatedAt = now
        let campaign = entry.clientRealm.campaign
        changedEntries.insert(Place(campaign: campaign, key: entry.key))
        known.entries[entry.key, default: []].removeAll { $0.clientRealm.campaign == campaign }
        known.entries[entry.key, default: []].append(entry)
    }

    /// A client realm's entries in the campaigns that are recorded, newest campaign first, with the campaigns' generations.
    private func recordedEntries(of key: ClientRealmKey) -> [(entry: CampaignEntry, generation: UInt64)] {
        let recorded = known.entries[key, default: []].compactMap { entry in
            known.standings[entry.clientRealm.campaign].map { (entry: entry, standing: $0) }
        }
        return recorded.sorted { $0.standing.number > $1.standing.number }.map { ($0.entry, $0.standing.generation) }
    }

    /// A user may speak for its own client realms only; an empty name is one that no slice has told yet.
    private func isStranger(_ reporter: String, to owner: String) -> Bool {
        !owner.isEmpty && reporter != owner
    }
}

extension CampaignEntry {
    fileprivate mutating func consider(_ new: OutcomeReport) {
        if let other = new.supersededBy {
            clientRealm.supersededBy = clientRealm.supersededBy ?? other
            return
        }
        if let report = clientRealm.report, !new.supersedes(report) { return }
        clientRealm.report = new
    }

    /// Derives the outcome. A report of how the reset ended counts even if it comes late: that another campaign followed says
    /// only that none may come.
    fileprivate mutating func settle() {
        let reported = clientRealm.report.map { OutcomeClass($0.result) } ?? .pending
        if reported != .pending {
            clientRealm.outcome = reported
        } else if clientRealm.supersededBy != nil {
            clientRealm.outcome = .superseded
        } else if clientRealm.outcome != .unknown {
            clientRealm.outcome = .pending
        }
        isUnproven = clientRealm.outcome == .recovered && clientRealm.report?.isUnproven == true
    }
}
