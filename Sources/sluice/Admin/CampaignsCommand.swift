import AdminAPI
import ArgumentParser
import Foundation
import SyncModel

struct CampaignsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaigns", abstract: "Show whom terminations reached and how each reset ended.",
        subcommands: [CampaignsList.self, CampaignsShow.self, CampaignsWatch.self, CampaignsPlan.self],
        defaultSubcommand: CampaignsList.self)
}

enum CampaignTable {
    static func rendered(_ documents: [CampaignDocument]) -> String {
        var table = Table(
            "CAMPAIGN", "APP", "KIND", "STATE", "STARTED", "FOUND", "NOTIFIED", "RECOVERED", "DISCARDED", "MANUAL",
            "FAILED", "SUPERSEDED", "PENDING")
        for campaign in documents {
            let counts = campaign.counts
            table.row(
                campaign.id, campaign.app, campaign.kind, campaign.state,
                Printing.time(ofUnixMilliseconds: campaign.startedAt), "\(counts.found)", "\(counts.notified)",
                "\(counts.recovered)", "\(counts.discarded)", "\(counts.manual)", "\(counts.failed)",
                "\(counts.superseded)", "\(counts.pending)")
        }
        return table.rendered()
    }

    /// What a recovered reset is worth of which the client has said nothing.
    static func unproven(_ counts: CampaignDocument.Counts) -> String? {
        guard counts.unproven > 0 else { return nil }
        return """
            \(counts.unproven) of \(counts.recovered) recovered sent nothing that they wrote before the reset, and do not report: \
            they had nothing unsynced, or discarded it
            """
    }

    static func clientRealms(_ realms: [ClientRealmDocument]) -> String {
        var table = Table(
            "CLIENT FILE", "PARTITION", "USER", "OUTCOME", "MODE", "RECOVERED", "DISCARDED", "EVIDENCE", "LAST SEEN",
            "BACKUP FILE")
        for realm in realms {
            let report = realm.report
            table.row(
                "\(realm.clientFile)", realm.partition, realm.user, realm.outcome, report?.modeUsed ?? "-",
                report?.changesets.map { "\($0.recovered)" } ?? "-",
                report?.changesets.map { "\($0.discarded)" } ?? "-",
                report.map { $0.evidence == .client ? "client" : "inferred \($0.confidence)" } ?? "-",
                Printing.age(ofUnixMilliseconds: realm.lastSeen), report?.backupFile ?? "-")
        }
        return table.rendered()
    }
}

struct CampaignsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List campaigns, newest first.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only this app's.") var app: String?
    @Option(help: "At most so many.") var limit = 20

    func run() async throws {
        try await reportingFailures {
            let list: CampaignList = try await AdminClient(try await cluster.load()).get(
                AdminRoute.campaigns.path(query: [(.limit, "\(limit)"), (.app, app)]))
            output.json ? try Printing.json(list.campaigns) : Printing.line(CampaignTable.rendered(list.campaigns))
        }
    }
}

struct CampaignsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one campaign, and with --client-realms every client realm's outcome.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign's id; the newest if left out.") var campaign: String?
    @Flag(help: "Every client realm with its outcome.") var clientRealms = false
    @Option(help: "Only client realms with this outcome: pending, recovered, discarded, manual, failed or superseded.")
    var outcome: String?

    func run() async throws {
        try await reportingFailures {
            let client = try AdminClient(try await cluster.load())
            let id = try await client.resolve(campaign)
            let document: CampaignDocument = try await client.get(AdminRoute.campaign.path(id))
            let realms =
                clientRealms || outcome != nil ? try await client.clientRealms(of: id, outcome: outcome) : nil
            if output.json { return try Printing.json(ShownCampaign(campaign: document, clientRealms: realms)) }
            Printing.line(CampaignTable.rendered([document]))
            if let unproven = CampaignTable.unproven(document.counts) { Printing.line(unproven) }
            if let reason = document.reason { Printing.line("reason: \(reason)") }
            if let realms { Printing.line("\n" + CampaignTable.clientRealms(realms)) }
        }
    }
}

/// A campaign in one flat object, with its client realms where they were asked for.
private struct ShownCampaign: Encodable {
    var campaign: CampaignDocument
    var clientRealms: [ClientRealmDocument]?

    private enum Key: CodingKey { case clientRealms }

    func encode(to encoder: any Encoder) throws {
        try campaign.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(clientRealms, forKey: .clientRealms)
    }
}

struct CampaignsWatch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow a campaign until every reset has ended.",
        discussion: "Prints a line whenever a count changes. Ends with exit code 0 once nothing is pending.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The campaign's id; the newest if left out.") var campaign: String?

    func run() async throws {
        try await reportingFailures {
            let client = try AdminClient(try await cluster.load())
            try await CampaignWatcher(client: client, json: output.json).watch(try await client.resolve(campaign))
        }
    }
}

/// Prints a campaign's counts whenever they change.
struct CampaignWatcher {
    let client: AdminClient
    let json: Bool

    func watch(_ id: String) async throws {
        var last: CampaignDocument.Counts?
        while true {
            let document: CampaignDocument = try await client.get(AdminRoute.campaign.path(id))
            if document.counts != last { try show(document) }
            last = document.counts
            if document.isClosed { return }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private func show(_ document: CampaignDocument) throws {
        if json { return try Printing.json(document) }
        let counts = document.counts
        Printing.line(
            "\(Date().formatted(date: .omitted, time: .standard))  \(document.state)"
                + "  found \(counts.found)  notified \(counts.notified)  recovered \(counts.recovered)"
                + "  discarded \(counts.discarded)  manual \(counts.manual)  failed \(counts.failed)"
                + "  superseded \(counts.superseded)  pending \(counts.pending)")
    }
}

extension AdminClient {
    /// - Parameter id: nil for the newest campaign.
    func resolve(_ id: String?) async throws -> String {
        if let id { return id }
        let list: CampaignList = try await get(AdminRoute.campaigns.path(query: [(.limit, "1")]))
        guard let newest = list.campaigns.first else { throw CommandFailure(.notFound, "there is no campaign yet") }
        return newest.id
    }

    func clientRealms(of campaign: String, outcome: String?) async throws -> [ClientRealmDocument] {
        var all: [ClientRealmDocument] = []
        var after: String?
        repeat {
            let page: ClientRealmList = try await get(
                AdminRoute.clientRealms.path(
                    campaign, query: [(.limit, "500"), (.outcome, outcome), (.after, after)]))
            all += page.clientRealms
            after = page.next
        } while after != nil
        return all
    }
}
