import AMQP
import AdminAPI
import ArgumentParser
import Changesets
import Foundation
import Inspection
import Messages
import SyncModel

struct FeedsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feeds",
        abstract: "Queues with an app's changes: make them, see what waits in them, delete them.",
        discussion: """
            A feed is a queue that gets what is done to an app's documents, and a broker user that may read it \
            alone. The app's change feed has to be on. All of it goes through the broker's management plugin \
            (docs/change-feed.md).

              sluice apps set tasks --change-feed documents
              sluice feeds create warehouse --app tasks --class Task --keep 7d \\
                  --management-url http://broker:15672
              sluice feeds list --management-url http://broker:15672
            """,
        subcommands: [FeedsCreate.self, FeedsList.self, FeedsShow.self, FeedsDelete.self],
        defaultSubcommand: FeedsList.self)
}

/// A time as it is typed: `90s`, `15m`, `12h`, `7d`.
struct KeepingTime: ExpressibleByArgument {
    let milliseconds: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let unit = argument.last.flatMap({ units[$0] }), let count = Int64(argument.dropLast()),
            (1...1_000_000).contains(count)
        else { return nil }
        // A broker takes what 32 bits hold.
        milliseconds = min(count * unit, 0xFFFF_FFFF)
    }

    static func text(_ milliseconds: Int64) -> String {
        for (unit, length) in [("d", Int64(86_400_000)), ("h", 3_600_000), ("m", 60_000)]
        where milliseconds >= length && milliseconds % length == 0 {
            return "\(milliseconds / length)\(unit)"
        }
        return "\(milliseconds / 1_000)s"
    }
}

/// What is said of a feed.
struct FeedReport: Encodable {
    var feed: String
    var queue: String
    /// The patterns by which it gets changes.
    var keys: [String]
    /// Whether it is a stream, in which changes stay that were read.
    var isStream: Bool
    /// Seconds.
    var keep: Int64?
    var maxBytes: Int64?
    /// Changes that wait; of a stream, that it has.
    var waiting: Int
    var consumers: Int
    /// Seconds since the first change that waits was published; nil while a consumer has it, or if none waits.
    var oldestSeconds: Double?
    /// Changes were lost, too old or too many: whoever follows has to start anew. A stream does not tell.
    var hasLost: Bool

    static func table(_ reports: [FeedReport]) -> Table {
        Table(
            "FEED", "KIND", "CHANGES OF", "KEEP", "WAITING", "OLDEST", "CONSUMERS", "LOST",
            rows: reports.map { report in
                [
                    report.feed, report.isStream ? "stream" : "queue", report.keys.joined(separator: " "),
                    report.keep.map { KeepingTime.text($0 * 1_000) }.cell, "\(report.waiting)",
                    report.oldestSeconds.map { "\(Int($0)) s" }.cell, "\(report.consumers)",
                    report.isStream ? "-" : report.hasLost ? "yes" : "no",
                ]
            })
    }
}

extension ManagementOptions {
    /// - Throws: `badInput` where no plugin is named.
    func required(_ settings: ClusterSettings) throws -> ManagementClient {
        guard let client = try client(settings) else {
            throw CommandFailure(
                .badInput,
                "feeds are made through the broker's management plugin: --management-url http://host:15672, or SLUICE_MANAGEMENT_URL"
            )
        }
        return client
    }
}

extension ClusterSettings {
    /// What waits in a feed's queue.
    func report(_ feed: FoundFeed, on connection: AMQPConnection) async throws -> FeedReport {
        let channel = try await connection.openChannel()
        let queue = topology.feed(feed.name)
        let info = try await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true), record: false)
        await channel.close()
        return FeedReport(
            feed: feed.name, queue: queue, keys: feed.keys, isStream: feed.isStream, keep: feed.keep.map { $0 / 1_000 },
            maxBytes: feed.maxBytes, waiting: info.messageCount, consumers: info.consumerCount,
            oldestSeconds: info.messageCount > 0 && (info.consumerCount == 0 || feed.isStream)
                ? try await Self.oldest(in: queue, isStream: feed.isStream, on: connection) : nil,
            hasLost: feed.isStream
                ? false : await Self.hasMessages(topology.lostOfFeed(feed.name), on: connection))
    }

    /// The age of the first message, which is looked at and given back. The queue hands its messages to one consumer at a time: one that comes
    /// meanwhile gets them afterwards, in order.
    private static func oldest(
        in queue: String, isStream: Bool, on connection: AMQPConnection
    ) async throws -> Double? {
        let channel = try await connection.openChannel(prefetch: 1)
        let consumer = try await channel.consume(queue: queue, arguments: isStream ? ["x-stream-offset": "first"] : [:])
        await consumer.waitForDelivery(upTo: .seconds(2))
        let first = consumer.bufferedCount > 0 ? try await consumer.nextBatch(max: 1)?.first : nil
        await channel.close()
        return first?.message.properties.timestamp.map { max(0, Date().timeIntervalSince1970 - Double($0)) }
    }

    private static func hasMessages(_ queue: String, on connection: AMQPConnection) async -> Bool {
        guard let channel = try? await connection.openChannel() else { return false }
        let info = try? await channel.declareQueue(AMQPQueueDeclaration(name: queue, passive: true), record: false)
        await channel.close()
        return (info?.messageCount ?? 0) > 0
    }
}

struct FeedsList: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show all feeds, what waits in them and for how long.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions

    func run(_ settings: ClusterSettings) async throws {
        let client = try management.required(settings)
        let host = try settings.amqp(name: "feeds").virtualHost
        let feeds = try await client.facts(ofVirtualHost: host).facts.host.map {
            FoundFeed.all(in: $0, settings.topology)
        }
        var reports: [FeedReport] = []
        try await settings.withBroker(name: "feeds") { connection in
            for feed in feeds ?? [] { reports.append(try await settings.report(feed, on: connection)) }
        }
        try output.show(reports, FeedReport.table(reports))
    }
}

struct FeedsShow: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one feed, what waits in it and for how long.",
        discussion: "Exit code 75: changes were lost; whoever follows has to start anew.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions
    @Argument(help: "The feed.") var name: String

    func run(_ settings: ClusterSettings) async throws {
        let feed = try await management.required(settings).feed(name, settings)
        let report = try await settings.withBroker(name: "feeds") { try await settings.report(feed, on: $0) }
        try output.show(report, FeedReport.table([report]))
        guard !report.hasLost else {
            throw CommandFailure(
                .tryAgain,
                "changes went from feed \(name) before they were read: whoever follows has to start anew (docs/change-feed.md)"
            )
        }
    }
}

extension ManagementClient {
    /// - Throws: `notFound`.
    func feed(_ name: String, _ settings: ClusterSettings) async throws -> FoundFeed {
        let host = try settings.amqp(name: "feeds").virtualHost
        let facts = try await facts(ofVirtualHost: host).facts
        if let feed = facts.host.map({ FoundFeed.all(in: $0, settings.topology) })?.first(where: { $0.name == name }) {
            return feed
        }
        guard let host = facts.host, FoundFeed.isBroken(name, in: host, settings.topology) else {
            throw CommandFailure(.notFound, "there is no feed \(name): sluice feeds list")
        }
        throw CommandFailure(
            .notFound,
            "the queue of feed \(name) was deleted, and what was told since is lost: make it again as it was (sluice feeds create), and whoever follows has to start anew"
        )
    }
}

struct FeedsDelete: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a feed, with what waits in it, and its user.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var management: ManagementOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The feed.") var name: String

    func run(_ settings: ClusterSettings) async throws {
        let client = try management.required(settings)
        let feed = try await client.feed(name, settings)
        let report = try await settings.withBroker(name: "feeds") { try await settings.report(feed, on: $0) }
        let what = "deleting feed \(name), in which \(report.waiting.counted("change waits", "changes wait")),"
        guard !confirmation.dryRun else { return try output.show(report, FeedReport.table([report])) }
        try confirmation.require(typed: name, what)
        let host = ManagementClient.segment(try settings.amqp(name: "feeds").virtualHost)
        // The user first: nobody reads a feed that is half gone.
        let user = FeedPlan.user(of: name, in: settings.topology)
        try await client.delete("users/\(ManagementClient.segment(user))")
        for queue in [settings.topology.feed(name), settings.topology.lostOfFeed(name)] {
            try await client.delete("queues/\(host)/\(ManagementClient.segment(queue))")
        }
        try output.show(report, "deleted \(name), with \(report.waiting.counted("change")) that waited")
    }
}
