import Storage
import SyncModel

/// A report about a campaign, as the outcomes queue delivers it.
enum CampaignReport: Sendable, Equatable {
    case found(FoundReport)
    case notified(NotifiedReport)
    case outcome(OutcomeReport)

    var app: String {
        switch self {
        case .found(let report): report.app
        case .notified(let report): report.realm.app
        case .outcome(let report): report.realm.app
        }
    }

    /// Nil if the report does not say it: the store has to tell.
    var campaign: String? {
        switch self {
        case .found(let report): report.campaign
        case .notified(let report): report.campaign
        case .outcome(let report): report.campaign
        }
    }

    /// The client realms that the report is about.
    var clientRealms: [ClientRealmKey] {
        switch self {
        case .found(let report):
            report.clientRealms.map { ClientRealmKey(realm: report.name(of: $0), clientFile: $0.clientFile) }
        case .notified(let report): [ClientRealmKey(realm: report.realm, clientFile: report.clientFile)]
        case .outcome(let report): [ClientRealmKey(realm: report.realm, clientFile: report.identOld)]
        }
    }
}

extension FoundReport {
    /// The realm that a client realm is of. That of an app in flexible mode has no partition.
    func name(of realm: ClientRealm) -> RealmName {
        realm.partition.isEmpty
            ? RealmName(flexible: app) : RealmName(app: app, partition: RealmName.partition(fromText: realm.partition))
    }
}

extension CampaignLookup {
    /// Names everything that is needed to apply the reports.
    init(_ reports: [CampaignReport]) {
        self.init()
        apps = Set(reports.map(\.app))
        campaigns = Set(reports.compactMap(\.campaign))
        clientRealms = Set(reports.flatMap(\.clientRealms))
    }
}

/// The effects of a batch of reports.
struct CampaignEffects: Sendable, Equatable {
    struct Rejection: Sendable, Equatable {
        /// Index in the batch.
        var index: Int
        var reason: String
    }

    /// Campaigns nobody had recorded, opened from a slice's report.
    var opened: [CampaignRecord] = []
    /// Apps whose sync generation was raised to a report's.
    var raisedApps: [String] = []
    /// Campaigns that a report changed, as they are now.
    var changed: [CampaignRecord] = []
    /// Outcomes whose campaign is not known yet; they wait for the slice's report.
    var parked = 0
    /// Waiting outcomes dropped because too many wait.
    var dropped = 0
    /// Reports that can never be applied.
    var rejected: [Rejection] = []
}
