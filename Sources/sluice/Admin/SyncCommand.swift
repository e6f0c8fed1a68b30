import AdminAPI
import ArgumentParser
import NIOHTTP1
import Storage
import SyncModel

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Pause, terminate and enable an app's sync; reset client realms.",
        subcommands: [SyncTerminate.self, SyncEnable.self, SyncPause.self, SyncReset.self])
}

/// What a command that opens a campaign prints about the campaign.
struct CampaignStarted: Encodable {
    var campaign: String
    var app: String
    var state: String
    var generation: UInt64

    init(_ summary: CampaignSummary) {
        campaign = summary.campaign.id
        app = summary.campaign.app
        state = summary.campaign.state.rawValue
        generation = summary.campaign.generation
    }

    func show(_ output: OutputOptions) throws {
        try output.show(self, "campaign \(campaign)")
        if !output.json { Printing.note("follow it with: sluice campaigns watch \(campaign)") }
    }
}

extension AdminClient {
    fileprivate func switchSync(_ route: AdminRoute, of app: String, _ output: OutputOptions) async throws {
        let shown: AppDocument = try await ask(route.path(app), .POST, body: EmptyRequest())
        try output.show(shown, "sync of \(shown.id) is \(shown.syncState)")
    }
}

struct SyncTerminate: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminate",
        abstract: "Terminate sync: every client realm of the app must reset. Opens a campaign that accounts for each.",
        discussion: "Says first whom that concerns, and wants the app's id typed, or --yes.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "Why; shown in the campaign and to the clients.") var reason: String?
    @Flag(help: "Enable sync again at once, so that clients can reset now.") var enable = false
    @Option(help: "The campaign's id; repeating the command with it changes nothing.") var campaign: String?
    @Flag(help: "Go on showing the campaign until every reset has ended.") var watch = false

    func run(_ admin: AdminClient) async throws {
        if confirmation.dryRun || !confirmation.yes {
            let preview = try await ResetPreview.termination(of: app, admin)
            if confirmation.dryRun { return try output.show(preview, "dry run: \(preview.text)") }
            try confirmation.require(typed: app, "terminating sync of \(app) (\(preview.text))")
        }
        let document: CampaignSummary = try await admin.ask(
            AdminRoute.terminate.path(app), .POST,
            body: TerminationRequest(reason: reason, enable: enable, campaign: campaign))
        try CampaignStarted(document).show(output)
        if !enable { Printing.note("sync stays off until: sluice sync enable \(app)") }
        if watch { try await CampaignWatcher(client: admin, json: output.json).watch(document.campaign.id) }
    }
}

struct SyncEnable: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Enable sync after a pause or a termination.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        try await admin.switchSync(.enable, of: app, output)
    }
}

struct SyncPause: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause sync: sessions are refused, nothing is lost, nobody must reset.")
    @OptionGroup var common: ReportOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String

    func run(_ admin: AdminClient) async throws {
        try await admin.switchSync(.pause, of: app, output)
    }
}

struct SyncReset: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Make one client realm, or every client realm of one realm, reset.",
        discussion: "Says first whom that concerns, and wants the app's id typed, or --yes.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "The partition value; left out for an app in flexible mode, which has one realm.")
    var partition: String?
    @Option(help: "The client file ident; all of the realm's if left out.") var clientFile: UInt64?
    @Option(help: "Why.") var reason: String?

    func run(_ admin: AdminClient) async throws {
        if confirmation.dryRun || !confirmation.yes {
            let preview = try await ResetPreview.reset(of: app, partition, clientFile, admin)
            if confirmation.dryRun { return try output.show(preview, "dry run: \(preview.text)") }
            try confirmation.require(typed: app, "this reset (\(preview.text))")
        }
        let document: CampaignSummary = try await admin.ask(
            AdminRoute.reset.path(app), .POST,
            body: ResetRequest(partition: partition, clientFile: clientFile.map(FileIdent.init), reason: reason))
        try CampaignStarted(document).show(output)
    }
}
