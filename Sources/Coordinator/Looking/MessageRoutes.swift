import AMQP
import AdminAPI
import Hummingbird
import Inspection
import Messages
import NIOCore
import SyncModel

/// `messages/events`: messages as they pass, without what users wrote.
struct MessageRoutes: Sendable {
    let context: CoordinatorContext
    /// Each binds a queue of its own to every slice.
    private let places = EventPlaces(AdminLimits.messageStreams)

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.get, .messageEvents) { request, _ in
            let filter = try filter(of: request)
            let place = try places.require()
            let tap: MessageTap
            do throws(AMQPError) {
                tap = try await MessageTap.open(
                    on: context.link.consumer, topology: context.topology, slices: context.slices,
                    includesPresence: filter.type == HeartbeatMessage.type)
            } catch {
                throw AdminError.brokerAway(error)
            }
            return place.response { writer in
                do {
                    try await TailWriter(context: context, filter: filter).write(tap, to: &writer)
                } catch {
                    await tap.close()
                    throw error
                }
                await tap.close()
            }
        }
    }

    private func filter(of request: Request) throws(AdminError) -> PassingFilter {
        let type = AdminRequest.query(.type, request)
        if let type, !MessageSummary.types.contains(type) {
            throw .invalid(
                "type: there is no type \(type.prefix(40)); expected one of "
                    + MessageSummary.types.sorted().joined(separator: ", "))
        }
        return PassingFilter(
            app: AdminRequest.query(.app, request),
            partition: try RealmChoice(request).wantedPartition, type: type)
    }
}

/// The messages that are wanted; without a type all but what passes because time does.
struct PassingFilter: Sendable {
    var app: String?
    var partition: String?
    var type: String?

    func accepts(_ summary: MessageSummary) -> Bool {
        (app == nil || summary.app == app) && (partition == nil || summary.partition == partition)
            && (type.map { $0 == summary.type } ?? !summary.isOfClock)
    }
}

/// A line of `messages/events`.
struct PassingMessage: Codable, Sendable {
    /// Milliseconds of Unix time.
    var at: UInt64
    var exchange: String?
    var message: MessageSummary?
    /// Messages that were left out since the line before, because there were too many.
    var leftOut: Int?
}

/// Writes messages as lines of JSON: as many as a person can follow, the others are counted.
struct TailWriter: Sendable {
    static let perSecond = 200
    private static let repeatAfter: UInt64 = 5_000

    let context: CoordinatorContext
    let filter: PassingFilter

    func write(_ tap: MessageTap, to writer: inout any ResponseBodyWriter) async throws {
        var writtenAt: UInt64 = 0
        var second = (number: UInt64(0), lines: 0)
        var leftOut = 0
        // Ticks pass all the time, so this notices soon when the client has left or the coordinator stops.
        while !context.state.isStopping, let batch = try await tap.consumer.nextBatch(max: 500) {
            let now = context.now
            var lines = ByteBuffer()
            for delivery in batch {
                let summary = MessageSummary(
                    delivery.message, routingKey: delivery.routingKey, slices: context.slices,
                    isDead: delivery.exchange == context.topology.dead)
                guard filter.accepts(summary) else { continue }
                if second.number != now / 1000 { second = (now / 1000, 0) }
                guard second.lines < Self.perSecond else {
                    leftOut += 1
                    continue
                }
                second.lines += 1
                let line = PassingMessage(
                    at: now, exchange: delivery.exchange, message: summary, leftOut: leftOut > 0 ? leftOut : nil)
                leftOut = 0
                lines.writeImmutableBuffer(try AdminResponse.line(line))
            }
            if let last = batch.last { try await tap.consumer.ack(upTo: last) }
            if lines.readableBytes == 0, now &- writtenAt > Self.repeatAfter {
                lines.writeImmutableBuffer(try AdminResponse.line(PassingMessage(at: now)))
            }
            guard lines.readableBytes > 0 else { continue }
            try await writer.write(lines)
            writtenAt = now
        }
    }
}
