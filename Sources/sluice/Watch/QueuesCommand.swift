import AMQP
import AdminAPI
import ArgumentParser
import Foundation
import Messages
import SyncModel

struct QueuesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queues",
        abstract: "Show the cluster's queues: what waits in them, for how long, and who works on them.",
        discussion: """
            Ready messages and consumers are the broker's own counts. A broker does not say how old a message is, or how fast
            a queue moves, without handing messages out or a management plugin; so the rest comes from the owner's last
            heartbeat: the deliveries that it holds unacknowledged, the age of the oldest of them (the head of the queue, by
            the time at which it was published), and how many it deals with per second. LAG is ready and unacknowledged
            together. IN/S is what came in between two looks, so it needs --live.

            "-": nobody reports it. A slice without an owner has no age: what is ready there waits until one comes.
            """)

    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Flag(help: "Go on, once a second, until interrupted.") var live = false
    @Option(help: "Seconds between two looks with --live.") var interval = 1.0

    struct Line: Encodable {
        var queue: String
        var slice: Int?
        var ready: Int
        var unacknowledged: Int?
        /// Ready and unacknowledged together.
        var lag: Int?
        /// Seconds since the oldest message that the owner holds was published.
        var oldestSeconds: Double?
        var inPerSecond: Double?
        var outPerSecond: Double?
        var consumers: Int
        var owner: String?
    }

    /// How full the queues were, to tell what has come in since.
    private struct Look {
        var at: ContinuousClock.Instant
        var ready: [String: Int]
    }

    func run() async throws {
        try await reportingFailures {
            let settings = try await cluster.load()
            let names = try QueueNames(topology: settings.topology, slices: settings.sliceCount())
            let connection = AMQPConnection(
                configuration: try settings.amqp(name: "queues"), logger: settings.quietLogger)
            try await connection.start()
            do {
                var last: Look?
                repeat {
                    let lines = try await look(names: names, connection: connection, settings: settings, after: last)
                    last = Look(
                        at: .now, ready: Dictionary(lines.map { ($0.queue, $0.ready) }, uniquingKeysWith: { $1 }))
                    try show(lines)
                    if live { try await Task.sleep(for: .seconds(max(0.1, interval))) }
                } while live
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        }
    }

    private struct QueueNames {
        var topology: Topology
        var slices: SliceCount

        var all: [(name: String, slice: Int?)] {
            slices.all.map { (topology.slice($0), $0.value) } + [(topology.outcomes, nil), (topology.dead, nil)]
        }
    }

    private func look(
        names: QueueNames, connection: AMQPConnection, settings: ClusterSettings, after last: Look?
    ) async throws -> [Line] {
        let now = Date().timeIntervalSince1970
        let owners = await SliceOwners.ask(settings)
        var lines: [Line] = []
        // A passive declare of a queue that is not there closes its channel, so each look has its own.
        let channel = try await connection.openChannel()
        for (name, slice) in names.all {
            let info = try await inspect(name, on: channel, of: names.slices)
            let owner = slice.flatMap { owners[$0] }
            lines.append(
                Line(
                    queue: name, slice: slice, ready: info.messageCount, unacknowledged: owner?.unacknowledged,
                    lag: owner?.unacknowledged.map { $0 + info.messageCount },
                    oldestSeconds: owner?.oldestAt.map { max(0, now - Double($0) / 1000) },
                    inPerSecond: inRate(name, ready: info.messageCount, out: owner?.perSecond, after: last),
                    outPerSecond: owner?.perSecond, consumers: info.consumerCount, owner: owner?.owner))
        }
        await channel.close()
        return lines
    }

    /// What left the queue and what it grew by must have come in.
    private func inRate(_ name: String, ready: Int, out: Double?, after last: Look?) -> Double? {
        guard let out, let last, let before = last.ready[name] else { return nil }
        let seconds = max(0.001, (ContinuousClock.now - last.at) / .seconds(1))
        return max(0, out + Double(ready - before) / seconds)
    }

    private func inspect(_ name: String, on channel: AMQPChannel, of slices: SliceCount) async throws -> AMQPQueueInfo {
        do throws(AMQPError) {
            return try await channel.declareQueue(AMQPQueueDeclaration(name: name, passive: true))
        } catch {
            guard error.code == .notFound else { throw error }
            throw CommandFailure(
                .notFound,
                "there is no queue \(name): is the cluster up, with this prefix and \(slices.value) slices?")
        }
    }

    private func show(_ lines: [Line]) throws {
        if output.json { return try Printing.json(lines) }
        var table = Table("QUEUE", "READY", "UNACKED", "LAG", "OLDEST", "IN/S", "OUT/S", "CONSUMERS", "OWNER")
        for line in lines {
            table.row(
                line.queue, "\(line.ready)", line.unacknowledged.map(String.init) ?? "-",
                line.lag.map(String.init) ?? "-", line.oldestSeconds.map { "\(Int($0)) s" } ?? "-",
                line.inPerSecond.map(Printing.rate) ?? "-", line.outPerSecond.map(Printing.rate) ?? "-",
                "\(line.consumers)", line.owner ?? "-")
        }
        live ? Printing.refresh(table.rendered()) : Printing.line(table.rendered())
    }
}
