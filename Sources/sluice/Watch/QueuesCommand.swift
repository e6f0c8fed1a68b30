import AMQP
import ArgumentParser
import Foundation
import Messages

struct QueuesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queues",
        abstract: "Show the cluster's queues: ready, unacknowledged, consumers, owner.",
        discussion: """
            Ready messages and consumers are the broker's own counts. Unacknowledged deliveries are what the owning worker
            says it holds in its last heartbeat, so they need no management plugin; they are left out ("-") when the
            coordinator cannot be reached or nobody reports them.
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
        var consumers: Int
        var owner: String?
    }

    func run() async throws {
        try await reportingFailures {
            let settings = try await cluster.load()
            let names = try QueueNames(topology: settings.topology, slices: settings.sliceCount())
            let connection = AMQPConnection(
                configuration: try settings.amqp(name: "queues"), logger: settings.quietLogger)
            try await connection.start()
            do {
                repeat {
                    let lines = try await look(names: names, connection: connection, settings: settings)
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
        names: QueueNames, connection: AMQPConnection, settings: ClusterSettings
    ) async throws -> [Line] {
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
                    consumers: info.consumerCount, owner: owner?.owner))
        }
        await channel.close()
        return lines
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
        var table = Table("QUEUE", "READY", "UNACKED", "CONSUMERS", "OWNER")
        for line in lines {
            table.row(
                line.queue, "\(line.ready)", line.unacknowledged.map(String.init) ?? "-", "\(line.consumers)",
                line.owner ?? "-")
        }
        live ? Printing.refresh(table.rendered()) : Printing.line(table.rendered())
    }
}
