import AMQP
import AdminAPI
import ArgumentParser
import Changesets
import Foundation
import Inspection
import Messages
import Operations

struct FeedsCreate: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a queue that gets an app's changes from now on, and a broker user that may read it alone.",
        discussion: """
            The user's password is made, and kept in feed-NAME.password in the folder of credentials; feed-NAME.env \
            beside it has the address that the user logs in at. Given twice nothing changes but the user's rights; \
            other limits or another class are refused, since a queue keeps those that it was made with.

            With --stream it is a stream: what is read stays, as long as --keep says, and any number of programs read, \
            each from where it wants to.
            """)

    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions
    @Argument(help: "The feed's name: lower-case letters, digits, - and _.") var name: String
    @Option(help: "The app whose changes it gets.", completion: .apps) var app: String
    @Option(name: .customLong("class"), help: "Only changes of this class.") var className: String?
    @Option(help: "How long a change waits to be read: 90s, 15m, 12h, 7d.") var keep = KeepingTime(
        milliseconds: 7 * 86_400_000)
    @Option(name: .customLong("max-mib"), help: "What waits at most, in MiB; beyond, the oldest changes go.")
    var maxMiB: Int64 = 1024
    @Flag(help: "Make a stream, from which several read, each by itself and from any change on.") var stream = false
    @Option(help: "The folder of the users' passwords.") var credentials = "sluice-broker"

    private struct Report: Encodable {
        var feed: String
        var queue: String
        var user: String
        var passwordFile: String
        var keys: [String]
    }

    func run(_ settings: ClusterSettings) async throws {
        guard FeedPlan.isName(name) else {
            throw CommandFailure(
                .badInput, "expected a name of 1 to \(FeedPlan.maxNameBytes) lower-case letters, digits, - and _")
        }
        guard (1...1_048_576).contains(maxMiB) else {
            throw CommandFailure(.badInput, "--max-mib: expected 1 to 1048576 MiB")
        }
        let client = try management.required(settings)
        let shown: AppDocument = try await AdminClient(settings).ask(AdminRoute.app.path(app))
        guard let mode = shown.changeFeed, mode != "off" else {
            throw CommandFailure(
                .badInput,
                "the change feed of app \(app) is off: sluice apps set \(app) --change-feed keys, or documents")
        }
        let host = try settings.amqp(name: "feeds").virtualHost
        let plan = FeedPlan(
            name: name, app: app, className: className.map { ByteString($0) }, keep: keep.milliseconds,
            maxBytes: maxMiB << 20, isStream: stream, topology: settings.topology, virtualHost: host)
        let facts = try await client.facts(ofVirtualHost: host).facts
        guard facts.host?.exchanges.contains(where: { $0.name == settings.topology.changes }) == true else {
            throw CommandFailure(
                .notFound, "the broker has no exchange \(settings.topology.changes): sluice broker init makes it")
        }
        let known = facts.host.map { FoundFeed.all(in: $0, settings.topology) }?.first { $0.name == name }
        if let known { try refuse(unless: known, plan) }
        let isBroken = facts.host.map { FoundFeed.isBroken(name, in: $0, settings.topology) } ?? false
        let file = "\(credentials)/feed-\(name).password"
        let hasUser = facts.accounts?.users.contains { $0.name == plan.user } == true
        var password: String?
        if !hasUser || !FileManager.default.fileExists(atPath: file) {
            let made = BrokerCredentials.random()
            try PrivateFile.write(Data((made + "\n").utf8), to: file)
            let url = BrokerCredentials.url(
                try settings.brokerURL().revealed, user: plan.user, password: made)
            try PrivateFile.write(Data("AMQP_URL=\(url)\n".utf8), to: "\(credentials)/feed-\(name).env")
            password = made
        }
        try await client.make(BrokerDefinitions(plan, password: password))
        if isBroken, !stream {
            // The word of what was lost reaches whoever follows; nothing else would tell.
            try await client.publish(
                #"{"lost": "the queue was deleted, and made anew"}"#, to: settings.topology.lostOfFeed(name),
                inVirtualHost: host)
            Printing.note("the feed's queue had been deleted: whoever follows has to start anew (docs/change-feed.md)")
        }
        let report = Report(
            feed: name, queue: settings.topology.feed(name), user: plan.user, passwordFile: file,
            keys: plan.bindings.map(\.routingKey))
        try output.show(
            report,
            """
            feed      \(report.feed)
            \(stream ? "stream   " : "queue    ") \(report.queue)
            changes   \(report.keys.joined(separator: " "))
            keep      \(KeepingTime.text(plan.keep)), \(maxMiB) MiB
            user      \(report.user)
            password  \(report.passwordFile)
            """)
    }

    private func refuse(unless known: FoundFeed, _ plan: FeedPlan) throws {
        let keys = plan.bindings.map(\.routingKey).sorted()
        guard known.keys.isEmpty || known.keys == keys, known.keep == plan.keep, known.maxBytes == plan.maxBytes,
            known.isStream == plan.isStream
        else {
            throw CommandFailure(
                .badInput,
                "feed \(name) is there\(known.isStream ? " as a stream" : "") with changes of \(known.keys.joined(separator: " ")), kept for "
                    + "\(known.keep.map(KeepingTime.text) ?? "-") and \((known.maxBytes ?? 0) >> 20) MiB: delete it first, or choose another name"
            )
        }
    }
}

extension KeepingTime {
    init(milliseconds: Int64) { self.milliseconds = milliseconds }
}
