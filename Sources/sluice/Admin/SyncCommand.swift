import AdminAPI
import ArgumentParser
import NIOHTTP1
import SyncModel

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Pause, terminate and enable an app's sync; reset client realms.",
        subcommands: [SyncTerminate.self, SyncEnable.self, SyncPause.self, SyncReset.self])
}

/// What commands that open a campaign say of it.
struct CampaignStarted: Encodable {
    var campaign: String
    var app: String
    var state: String
    var generation: UInt64

    init(_ document: CampaignDocument) {
        campaign = document.id
        app = document.app
        state = document.state
        generation = document.generation
    }

    func show(json: Bool) throws {
        if json { return try Printing.json(self) }
        Printing.line("campaign \(campaign)")
        Printing.note("follow it with: sluice campaigns watch \(campaign)")
    }
}

struct SyncTerminate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminate",
        abstract: "Terminate sync: every client realm of the app must reset. Opens a campaign that accounts for each.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app's id.") var app: String
    @Option(help: "Why; shown in the campaign and to the clients.") var reason: String?
    @Flag(help: "Enable sync again at once, so that clients can reset now.") var enable = false
    @Option(help: "The campaign's id; repeating the command with it changes nothing.") var campaign: String?
    @Flag(help: "Go on showing the campaign until every reset has ended.") var watch = false

    func run() async throws {
        try await reportingFailures {
            let client = try AdminClient(try await cluster.load())
            let document: CampaignDocument = try await client.send(
                .POST, AdminRoute.terminate.path(app),
                body: TerminationRequest(reason: reason, enable: enable, campaign: campaign))
            try CampaignStarted(document).show(json: output.json)
            if !enable { Printing.note("sync stays off until: sluice sync enable \(app)") }
            if watch { try await CampaignWatcher(client: client, json: output.json).watch(document.id) }
        }
    }
}

struct SyncEnable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Enable sync after a pause or a termination.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app's id.") var app: String

    func run() async throws {
        try await reportingFailures {
            let shown: AppDocument = try await AdminClient(try await cluster.load()).send(
                .POST, AdminRoute.enable.path(app), body: EmptyRequest())
            output.json
                ? try Printing.json(shown) : Printing.line("sync of \(shown.id) is \(shown.syncState)")
        }
    }
}

struct SyncPause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pause sync: sessions are refused, nothing is lost, nobody must reset.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app's id.") var app: String

    func run() async throws {
        try await reportingFailures {
            let shown: AppDocument = try await AdminClient(try await cluster.load()).send(
                .POST, AdminRoute.pause.path(app), body: EmptyRequest())
            output.json
                ? try Printing.json(shown) : Printing.line("sync of \(shown.id) is \(shown.syncState)")
        }
    }
}

struct SyncReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Make one client realm, or every client realm of one realm, reset.")
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app's id.") var app: String
    @Option(help: "The partition value.") var partition: String
    @Option(help: "The client file ident; all of the realm's if left out.") var clientFile: UInt64?
    @Option(help: "Why.") var reason: String?

    func run() async throws {
        try await reportingFailures {
            let document: CampaignDocument = try await AdminClient(try await cluster.load()).send(
                .POST, AdminRoute.reset.path(app),
                body: ResetRequest(partition: partition, clientFile: clientFile.map(FileIdent.init), reason: reason))
            try CampaignStarted(document).show(json: output.json)
        }
    }
}
