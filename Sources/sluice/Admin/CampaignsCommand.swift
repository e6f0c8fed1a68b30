import AdminAPI
import ArgumentParser
import Foundation
import Storage
import SyncModel

struct CampaignsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaigns", abstract: "Show whom terminations reached and how each reset ended.",
        subcommands: [CampaignsList.self, CampaignsShow.self, CampaignsWatch.self, CampaignsPlan.self],
        defaultSubcommand: CampaignsList.self)
}

enum CampaignTable {
    static func campaigns(_ documents: [CampaignSummary]) -> Table {
        Table(
            "CAMPAIGN", "APP", "KIND", "STATE", "STARTED", "FOUND", "NOTIFIED", "RECOVERED", "DISCARDED", "MANUAL",
            "FAILED", "SUPERSEDED", "UNKNOWN", "PENDING",
            rows: documents.map { summary in
                let (campaign, counts) = (summary.campaign, summary.counts)
                let started = Printing.time(ofUnixMilliseconds: campaign.startedAt)
                return [campaign.id, campaign.app, campaign.kind.rawValue, campaign.state.rawValue, started]
                    + [
                        counts.found, counts.notified, counts.recovered, counts.discarded, counts.manual,
                        counts.failed, counts.superseded, counts.unknown, counts.pending,
                    ].map { "\($0)" }
            })
    }

    /// How many of the recovered resets may have discarded changes, because their clients do not report.
    static func unproven(_ counts: CampaignCounts) -> String? {
        guard counts.unproven > 0 else { return nil }
        return """
            \(counts.unproven) of \(counts.recovered) recovered sent nothing that they wrote before the reset, and do not report: \
            they had nothing unsynced, or discarded it
            """
    }

    static func clientRealms(_ realms: [CampaignClientRealm]) -> Table {
        Table(
            "CLIENT FILE", "PARTITION", "USER", "OUTCOME", "MODE", "RECOVERED", "DISCARDED", "EVIDENCE", "LAST SEEN",
            "BACKUP FILE", "REASON",
            rows: realms.map { realm in
                let report = realm.report
                let evidence = report.map { $0.evidence == .client ? "client" : "inferred \($0.confidence)" }
                return [
                    "\(realm.clientFile)", RealmName.shown(realm.partition), realm.user.oneLine, realm.outcome.rawValue,
                    (report?.modeUsed).cell,
                    (report?.changesets?.recovered).cell, (report?.changesets?.discarded).cell, evidence.cell,
                    Printing.age(ofUnixMilliseconds: realm.lastSeen), (report?.backupFile).cell,
                    realm.reason.cell.oneLine,
                ]
            })
    }
}

struct CampaignsList: AdminCommand {
    enum Order: String, ExpressibleByArgument, CaseIterable { case started, app, found, pending }

    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List campaigns, newest first.",
        discussion: "Sorted otherwise, those with most come first, of the newest thousand that are asked for.")
    @OptionGroup var common: ReportOptions
    @Option(help: "Only this app's.", completion: .apps) var app: String?
    @Option(help: "Only those whose id or reason contains this.") var search: String?
    @Flag(help: "Only those that are not closed.") var open = false
    @Option(help: "By what they are sorted.") var sort = Order.started
    @Option(help: "At most so many.") var limit = 20
    @Flag(help: "Only accounts: those of client realms that had to reset without anybody having asked for it.")
    var accounts = false

    func run(_ admin: AdminClient) async throws {
        let found = try await list(admin, accounts: accounts)
        let campaigns = Array(found.prefix(limit))
        if output.json { return try Printing.json(campaigns) }
        Printing.line(CampaignTable.campaigns(campaigns).rendered())
        let more = found.count > limit ? " (--limit)" : ""
        let looked = found.count == AdminLimits.entries.upperBound ? " or more" : ""
        Printing.note("\(campaigns.count) of \(found.count.counted("campaign"))\(looked)\(more)")
        guard !accounts else { return }
        let newest = try await list(admin, accounts: true).prefix(Self.shownAccounts)
        guard !newest.isEmpty else { return }
        Printing.line("\nreset without anybody having asked for it, by day (all: --accounts)")
        Printing.line(CampaignTable.campaigns(Array(newest)).rendered())
    }

    /// Accounts that are shown beside the campaigns.
    private static let shownAccounts = 5

    private func list(_ admin: AdminClient, accounts: Bool) async throws -> [CampaignSummary] {
        guard AdminLimits.entries.contains(limit) else {
            let allowed = AdminLimits.entries
            throw CommandFailure(
                .badInput, "--limit: expected \(allowed.lowerBound) to \(allowed.upperBound), found \(limit)")
        }
        let reach = accounts && !self.accounts ? Self.shownAccounts : AdminLimits.entries.upperBound
        let path = AdminRoute.campaigns.path(
            query: [
                (.limit, "\(reach)"), (.app, app), (.accounts, accounts ? "true" : nil), (.open, open ? "true" : nil),
                (.search, search),
            ])
        let found = try await (admin.ask(path) as CampaignList).campaigns
        return switch sort {
        case .started: found
        case .app: found.sorted { $0.campaign.app < $1.campaign.app }
        case .found: found.sorted { $0.counts.found > $1.counts.found }
        case .pending: found.sorted { $0.counts.pending > $1.counts.pending }
        }
    }
}

struct CampaignsShow: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one campaign, and with --client-realms every client realm's outcome.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The campaign's id; the newest if left out.", completion: .campaigns) var campaign: String?
    @Flag(help: "Every client realm with its outcome.") var clientRealms = false
    @Option(
        help:
            "Only client realms with this outcome: pending, recovered, discarded, manual, failed, superseded or unknown."
    )
    var outcome: String?

    func run(_ admin: AdminClient) async throws {
        let id = try await admin.resolve(campaign)
        let document: CampaignSummary = try await admin.ask(AdminRoute.campaign.path(id))
        let realms = clientRealms || outcome != nil ? try await admin.clientRealms(of: id, outcome: outcome) : nil
        if output.json {
            return try Printing.json(JoinedObject(document, ["clientRealms": realms].compactMapValues(\.self)))
        }
        if document.campaign.kind == .account {
            Printing.line("client realms that had to reset without anybody having asked for it, of one day")
        }
        Printing.line(CampaignTable.campaigns([document]).rendered())
        if let unproven = CampaignTable.unproven(document.counts) { Printing.line(unproven) }
        if let reason = document.campaign.reason { Printing.line("reason: \(reason)") }
        if let realms { Printing.line("\n" + CampaignTable.clientRealms(realms).rendered()) }
    }
}

struct CampaignsWatch: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a campaign until every reset has ended.",
        discussion: """
            Says which campaign of which app it follows, and prints a line whenever a count changes. Ends with exit \
            code 0 once nothing is pending. A campaign that was published a moment ago may not be open yet: it is \
            waited for.
            """)
    @OptionGroup var common: ReportOptions
    @Argument(help: "The campaign's id; the newest that is open if left out.", completion: .campaigns) var campaign:
        String?

    func run(_ admin: AdminClient) async throws {
        let watcher = CampaignWatcher(client: admin, json: output.json)
        if let campaign { return try await watcher.watch(campaign, isNew: true) }
        try await watcher.watch(try await watcher.newestOpen())
    }
}

/// Prints a campaign's counts whenever they change.
struct CampaignWatcher {
    let client: AdminClient
    let json: Bool

    /// How long a campaign may take to be opened: by the first slice that reports, if it was published from a shell.
    private static let opening = Duration.seconds(15)

    /// The newest campaign, once it is one that has not ended.
    func newestOpen() async throws -> String {
        let deadline = ContinuousClock.now + Self.opening
        while true {
            let list: CampaignList = try await client.ask(AdminRoute.campaigns.path(query: [(.limit, "1")]))
            let newest = list.campaigns.first?.campaign
            if let newest, newest.state != .closed { return newest.id }
            guard ContinuousClock.now < deadline else {
                let last = newest.map { "; the last one, \($0.id) of app \($0.app), has ended" } ?? ""
                throw CommandFailure(.notFound, "no campaign is open\(last): sluice campaigns show")
            }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    /// - Parameter isNew: whether the campaign may not be open yet.
    func watch(_ id: String, isNew: Bool = false) async throws {
        var last: CampaignCounts?
        let deadline = ContinuousClock.now + Self.opening
        while true {
            let document: CampaignSummary
            do {
                document = try await client.ask(AdminRoute.campaign.path(id))
            } catch let failure as CommandFailure
                where failure.kind == .notFound && isNew && last == nil && ContinuousClock.now < deadline
            {
                try await Task.sleep(for: .milliseconds(500))
                continue
            }
            if last == nil, !json {
                Printing.line("campaign \(id): \(document.campaign.kind.rawValue) of app \(document.campaign.app)")
            }
            if document.counts != last { try show(document) }
            last = document.counts
            if document.campaign.state == .closed { return }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func show(_ document: CampaignSummary) throws {
        if json { return try Printing.json(document) }
        let counts = document.counts
        Printing.line(
            "\(Date().formatted(.iso8601))  \(document.campaign.state.rawValue)"
                + "  found \(counts.found)  notified \(counts.notified)  recovered \(counts.recovered)"
                + "  discarded \(counts.discarded)  manual \(counts.manual)  failed \(counts.failed)"
                + "  superseded \(counts.superseded)  unknown \(counts.unknown)  pending \(counts.pending)")
    }
}

extension AdminClient {
    /// - Parameter id: nil for the newest campaign.
    func resolve(_ id: String?) async throws -> String {
        if let id { return id }
        let list: CampaignList = try await ask(AdminRoute.campaigns.path(query: [(.limit, "1")]))
        guard let newest = list.campaigns.first else { throw CommandFailure(.notFound, "there is no campaign yet") }
        return newest.campaign.id
    }

    func clientRealms(of campaign: String, outcome: String?) async throws -> [CampaignClientRealm] {
        var all: [CampaignClientRealm] = []
        var after: String?
        repeat {
            let page: ClientRealmList = try await ask(
                AdminRoute.clientRealms.path(
                    campaign, query: [(.limit, "500"), (.outcome, outcome), (.after, after)]))
            all += page.clientRealms
            after = page.next
        } while after != nil
        return all
    }
}
