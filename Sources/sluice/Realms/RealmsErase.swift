import AdminAPI
import ArgumentParser
import NIOCore
import NIOHTTP1
import Storage

struct RealmsErase: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Take a realm away, with everything that is stored of it.",
        discussion: """
            Its clients reset onto an empty realm; what they have not uploaded they bring along, in mode recover. A \
            campaign accounts for each.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Option(help: "The app's id.", completion: .apps) var app: String
    @Option(
        help:
            "The partition value: a word, or extended JSON; left out for an app in flexible mode, which has one realm.")
    var partition: String?
    @Flag(help: "The flexible realm that an app has left behind which has gone back to partitions.") var flexible =
        false
    @Option(help: "Why; shown in the campaign and to the clients.") var reason: String?
    @Option(help: "The campaign's id; repeating the command with it changes nothing.") var campaign: String?

    func run(_ admin: AdminClient) async throws {
        let path = AdminRoute.eraseRealm.path(app)
        var body = EraseRequest(
            partition: partition, flexible: flexible ? true : nil, reason: reason, campaign: campaign, dryRun: true)
        // What the coordinator wants to hear once more.
        let typed = partition ?? app
        if confirmation.dryRun || !confirmation.yes {
            let plan: ErasurePlan = try await admin.ask(path, .POST, body: body, timeout: .minutes(5))
            if confirmation.dryRun { return try output.show(plan, "would erase: \(plan.text)") }
            try confirmation.require(typed: typed, "erasing \(plan.text)")
        }
        body.dryRun = nil
        body.confirm = typed
        let document: CampaignSummary = try await admin.ask(path, .POST, body: body)
        try CampaignStarted(document).show(output)
    }
}
