import ArgumentParser
import NIOHTTP1
import Storage

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Pause, terminate and enable an app's sync; reset client realms.",
        subcommands: [SyncTerminate.self, SyncEnable.self, SyncPause.self, SyncReset.self])
}

/// What commands that open a campaign say of it.
struct CampaignStarted: Encodable {
    var campaign: String
    var app: String
    var state: CampaignRecord.State
    var generation: UInt64

    init(_ document: CampaignDocument) {
        campaign = document.campaign.id
        app = document.campaign.app
        state = document.campaign.state
        generation = document.campaign.generation
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

    private struct Body: Encodable {
        var reason: String?
        var enable: Bool
        var campaign: String?
    }

    func run() async throws {
        try await reportingFailures {
            let client = try AdminClient(try await cluster.load())
            let document: CampaignDocument = try await client.send(
                .POST, "/apps/\(app.pathSegment)/sync/terminate",
                body: Body(reason: reason, enable: enable, campaign: campaign))
            try CampaignStarted(document).show(json: output.json)
            if !enable { Printing.note("sync stays off until: sluice sync enable \(app)") }
            if watch { try await CampaignWatcher(client: client, json: output.json).watch(document.campaign.id) }
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
            let record: AppRecord = try await AdminClient(try await cluster.load()).send(
                .POST, "/apps/\(app.pathSegment)/sync/enable", body: [String: String]())
            output.json
                ? try Printing.json(record) : Printing.line("sync of \(record.id) is \(record.syncState.rawValue)")
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
            let record: AppRecord = try await AdminClient(try await cluster.load()).send(
                .POST, "/apps/\(app.pathSegment)/sync/pause", body: [String: String]())
            output.json
                ? try Printing.json(record) : Printing.line("sync of \(record.id) is \(record.syncState.rawValue)")
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

    private struct Body: Encodable {
        var partition: String
        var clientFile: UInt64?
        var reason: String?
    }

    func run() async throws {
        try await reportingFailures {
            let document: CampaignDocument = try await AdminClient(try await cluster.load()).send(
                .POST, "/apps/\(app.pathSegment)/sync/reset",
                body: Body(partition: partition, clientFile: clientFile, reason: reason))
            try CampaignStarted(document).show(json: output.json)
        }
    }
}
