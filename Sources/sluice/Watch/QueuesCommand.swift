import AdminAPI
import ArgumentParser
import Foundation
import SyncModel

struct QueuesCommand: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "queues",
        abstract: "Show the cluster's queues: what waits in them, for how long, and who works on them.",
        discussion: """
            Ready messages and consumers are the broker's own counts. A broker does not say how old a message is, or \
            how fast a queue moves, without handing messages out or a management plugin; so the rest comes from the \
            owner's last heartbeat: the deliveries that it holds unacknowledged, the age of the oldest of them (the \
            head of the queue, by the time at which it was published), and how many it deals with per second. LAG is \
            ready and unacknowledged together. IN/S is what came in between two looks, so it needs --live.

            "-": nobody reports it. A slice without an owner has no age: what is ready there waits until one comes. \
            Where no coordinator runs, sluice broker queues has the broker's own counts.
            """)

    @OptionGroup var common: ReportOptions
    @OptionGroup var live: LiveOptions

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

    func run(_ admin: AdminClient) async throws {
        var last: Look?
        try await live.run {
            let list: QueueList = try await admin.ask(AdminRoute.queues.path())
            let lines = lines(of: list.queues, after: last)
            last = Look(at: .now, ready: Dictionary(lines.map { ($0.queue, $0.ready) }, uniquingKeysWith: { $1 }))
            try show(lines)
        }
    }

    private func lines(of queues: [QueueDocument], after last: Look?) -> [Line] {
        let now = Date().timeIntervalSince1970
        return queues.map { queue in
            Line(
                queue: queue.queue, slice: queue.slice?.value, ready: queue.ready,
                unacknowledged: queue.unacknowledged, lag: queue.unacknowledged.map { $0 + queue.ready },
                oldestSeconds: queue.oldestAt.map { max(0, now - Double($0) / 1000) },
                inPerSecond: inRate(queue.queue, ready: queue.ready, out: queue.perSecond, after: last),
                outPerSecond: queue.perSecond, consumers: queue.consumers, owner: queue.owner)
        }
    }

    /// What left the queue and what it grew by must have come in.
    private func inRate(_ name: String, ready: Int, out: Double?, after last: Look?) -> Double? {
        guard let out, let last, let before = last.ready[name] else { return nil }
        let seconds = max(0.001, (ContinuousClock.now - last.at) / .seconds(1))
        return max(0, out + Double(ready - before) / seconds)
    }

    private func show(_ lines: [Line]) throws {
        if output.json { return try Printing.json(lines) }
        let rows = lines.map { line in
            [
                line.queue, "\(line.ready)", line.unacknowledged.cell, line.lag.cell,
                line.oldestSeconds.map { "\(Int($0)) s" }.cell, line.inPerSecond.map(Printing.rate).cell,
                line.outPerSecond.map(Printing.rate).cell, "\(line.consumers)", line.owner.cell,
            ]
        }
        live.print(
            Table(
                "QUEUE", "READY", "UNACKED", "LAG", "OLDEST", "IN/S", "OUT/S", "CONSUMERS", "OWNER", rows: rows))
    }
}
