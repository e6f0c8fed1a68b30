import AMQP
import ArgumentParser
import Messages
import SyncModel

/// Asks the broker itself: for a cluster whose coordinators have been stopped.
struct BrokerQueues: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "queues",
        abstract: "Show what waits in the cluster's queues, also where no coordinator runs.",
        discussion: "These are the broker's own counts; sluice queues also has what the slices' owners say.")

    @OptionGroup var common: ReportOptions

    private struct Line: Encodable {
        var queue: String
        var slice: Int?
        var ready: Int
        var consumers: Int
    }

    func run(_ settings: ClusterSettings) async throws {
        let (slices, topology) = (try settings.sliceCount(), settings.topology)
        let queues: [(name: String, slice: Int?)] =
            slices.all.map { (topology.slice($0), $0.value) } + [(topology.outcomes, nil), (topology.dead, nil)]
        let lines = try await settings.withBroker(name: "broker queues") { connection in
            let channel = try await connection.openChannel()
            var lines: [Line] = []
            for (name, slice) in queues {
                let info = try await inspect(name, on: channel, of: slices)
                lines.append(
                    Line(queue: name, slice: slice, ready: info.messageCount, consumers: info.consumerCount))
            }
            await channel.close()
            return lines
        }
        let rows = lines.map { [$0.queue, "\($0.ready)", "\($0.consumers)"] }
        try output.show(lines, Table("QUEUE", "READY", "CONSUMERS", rows: rows))
    }

    private func inspect(_ name: String, on channel: AMQPChannel, of slices: SliceCount) async throws -> AMQPQueueInfo {
        do throws(AMQPError) {
            return try await channel.declareQueue(AMQPQueueDeclaration(name: name, passive: true))
        } catch {
            guard error.code == .notFound else { throw error }
            throw CommandFailure(
                .notFound,
                "there is no queue \(name): is the cluster up, with this prefix and \(slices.value.counted("slice"))?")
        }
    }
}
