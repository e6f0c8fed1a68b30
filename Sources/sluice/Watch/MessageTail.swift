import AMQP
import Foundation
import Inspection
import Messages
import SyncModel
import Synchronization

/// One message on its way to the terminal.
struct TailedMessage: Sendable {
    var at: Date
    var exchange: String
    var summary: MessageSummary
    /// Kept only where it is going to be shown.
    var body: String?
}

/// Reads messages as fast as they come and prints them as fast as the terminal takes them; in between wait at most
/// `maxWaiting`, and what is more is counted instead.
struct MessageTail {
    static let maxWaiting = 1000

    let tap: MessageTap
    let slices: SliceCount
    let filter: MessageFilter
    let limit: Int?
    let printer: TailPrinter
    /// The exchange of dead letters: what passes it has passed another one before.
    let dead: String

    func run() async throws {
        let (stream, continuation) = AsyncStream.makeStream(
            of: TailedMessage.self, bufferingPolicy: .bufferingNewest(Self.maxWaiting))
        let dropped = DropCounter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await read(into: continuation, counting: dropped)
            }
            group.addTask { try await watchOverflow(dropped) }
            group.addTask {
                var shown = 0
                for await message in stream {
                    let (count, byBroker) = dropped.take()
                    await printer.show(message, dropped: count, byBroker: byBroker)
                    shown += 1
                    if let limit, shown >= limit { throw Finished() }
                }
            }
            do {
                for try await _ in group {}
            } catch is Finished {
                group.cancelAll()
            }
        }
        await tap.close()
    }

    private struct Finished: Error {}

    private func read(
        into continuation: AsyncStream<TailedMessage>.Continuation, counting dropped: DropCounter
    ) async throws {
        var generation: Int?
        while let batch = try await tap.consumer.nextBatch(max: 500) {
            for delivery in batch {
                // The connection comes back by itself; what passed meanwhile does not.
                if let generation, generation != delivery.generation { dropped.brokerDrops() }
                generation = delivery.generation
                let summary = MessageSummary(
                    delivery.message, routingKey: delivery.routingKey, slices: slices,
                    isDead: delivery.exchange == dead)
                guard filter.accepts(summary) else { continue }
                let message = TailedMessage(
                    at: Date(), exchange: delivery.exchange, summary: summary,
                    body: printer.bodies ? MessageBody.text(of: delivery.message) : nil)
                if case .dropped = continuation.yield(message) { dropped.add() }
            }
            if let last = batch.last { try await tap.consumer.ack(upTo: last) }
        }
        throw CommandFailure(.unreachable, "the broker ended the subscription")
    }

    /// The broker's own bound is far beyond ours, and only reached when this process gets no time at all.
    private func watchOverflow(_ dropped: DropCounter) async throws {
        while !Task.isCancelled {
            try await Task.sleep(for: .seconds(1))
            if try await tap.isOverflowing() { dropped.brokerDrops() }
        }
    }
}

/// How many messages were left out since it was last asked.
final class DropCounter: Sendable {
    private let state = Mutex((count: 0, byBroker: false))

    func add() { state.withLock { $0.count += 1 } }
    func brokerDrops() { state.withLock { $0.byBroker = true } }

    func take() -> (count: Int, byBroker: Bool) {
        state.withLock { state in
            defer { state = (0, false) }
            return state
        }
    }
}

/// Writes lines on a thread of its own: a terminal that is stopped (Ctrl-S) blocks whoever writes to it.
struct TailPrinter: Sendable {
    let json: Bool
    let bodies: Bool
    let ids: Bool
    private let queue = DispatchQueue(label: "sluice.tail.output")
    /// The events that a line of text names.
    private static let shownEvents = 5

    private struct Gap: Encodable {
        var dropped: Int
        /// Whether other messages were missed at the broker or while the connection was away; nobody counted them.
        var uncounted: Bool
    }

    func show(_ message: TailedMessage, dropped: Int, byBroker: Bool) async {
        let lines = (try? render(message, dropped: dropped, byBroker: byBroker)) ?? []
        await withCheckedContinuation { continuation in
            queue.async {
                for line in lines { Printing.line(line) }
                continuation.resume()
            }
        }
    }

    private func render(_ message: TailedMessage, dropped: Int, byBroker: Bool) throws -> [String] {
        var lines: [String] = []
        let at = message.at.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        if dropped > 0 || byBroker {
            let more = byBroker ? " and more, which nobody counted," : ""
            lines.append(
                json
                    ? try Printing.text(of: Gap(dropped: dropped, uncounted: byBroker))
                    : "-- left out: \(dropped.counted("message"))\(more) because more came than could be shown")
        }
        if json {
            let rest = ["at": at, "exchange": message.exchange, "body": message.body].compactMapValues(\.self)
            return lines + [try Printing.text(of: JoinedObject(message.summary, rest))]
        }
        let summary = message.summary
        var cells = [String(at.dropFirst(11)), summary.type.padded(12)]
        cells.append([summary.app, summary.partition.map(RealmName.shown)].compactMap(\.self).joined(separator: "/"))
        if let file = summary.clientFile { cells.append("file \(file)") }
        if let slice = summary.slice { cells.append("slice \(slice)") }
        cells.append("\(summary.bytes) B")
        if ids, let session = summary.session { cells.append("session \(session)") }
        if ids, let id = summary.id { cells.append("id \(id)") }
        if let letter = summary.letter {
            cells.append("DEAD LETTER \(letter) of \(summary.queue ?? "an unknown queue"): \(summary.reason ?? "?")")
        }
        if !summary.text.isEmpty { cells.append(summary.text) }
        if let events = summary.events {
            let names = events.prefix(Self.shownEvents).map { "\($0.id) (version \($0.version))" }
            let rest = events.count > names.count ? ["and \(events.count - names.count) more"] : []
            cells.append("of \(events.count == 1 ? "event" : "events") " + (names + rest).joined(separator: ", "))
        }
        lines.append(cells.filter { !$0.isEmpty }.joined(separator: "  ").oneLine)
        if let body = message.body { lines.append("    " + body.oneLine) }
        return lines
    }
}

extension String {
    /// The text with a replacement character for each control or format character: what came over the network must not
    /// steer the terminal.
    var oneLine: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                        ? "\u{fffd}" : scalar
                }))
    }
}
