import AMQP
import Logging
import Messages
import SyncModel

/// Publishes what batches give rise to, on a connection that does nothing else.
struct WorkerPublisher: Sendable {
    let channel: AMQPChannel
    let topology: Topology
    let metrics: WorkerMetrics
    let logger: Logger

    /// Publishes in order and waits for the confirms. What must arrive is tried again until it has: meanwhile the
    /// deliveries that gave rise to it stay unacknowledged, and the slice waits.
    ///
    /// While a queue changes its leader the broker may turn a message down and take the one behind it. Whoever reads changes keeps the last place
    /// and drops what comes with an earlier one: so where the broker has just failed, changes go one alone, then two, four ..., each lot once
    /// the lot before has arrived.
    ///
    /// - Parameters:
    ///   - isCareful: changes begin with one alone.
    ///   - stuck: hears each time what still waits for the broker to take it, and why; says whether to give up.
    /// - Returns: whether the broker took everything at the first attempt.
    /// - Throws: `WorkerError.stopping` if something that must arrive has not when `stuck` says so.
    @discardableResult
    func publish(
        _ publications: [Publication], isCareful: Bool = false, stuck: @Sendable (String) async -> Bool
    ) async throws -> Bool {
        var left = publications
        var attempt = 0
        var most = isCareful ? 1 : Int.max
        while !left.isEmpty {
            let part = PublishingRound.part(of: left, changes: most)
            let results = await channel.publish(
                batch: part.map { publication in
                    let (exchange, key) = address(of: publication.target)
                    return (publication.message, exchange: exchange, routingKey: key)
                }, isMandatory: { part[$0].isMandatory }, timeout: .seconds(10))
            let round = PublishingRound(part, results, attempt: attempt)
            left = round.left + left.dropFirst(part.count)
            most = round.failures.isEmpty ? max(most, most &* 2) : 1
            var reason = ""
            for failure in round.failures {
                let target = name(of: failure.publication.target)
                logger.warning(
                    "message not published",
                    metadata: [
                        "type": "\(failure.publication.message.properties.type ?? "")", "error": "\(failure.error)",
                        "again": "\(!failure.isExpendable)",
                    ])
                guard !failure.isExpendable else { continue }
                reason = "\(target) does not take a message: \(failure.error)"
                metrics.publishesAgain(to: target)
            }
            guard !round.left.isEmpty else { continue }
            if await stuck(reason) || Task.isCancelled {
                throw WorkerError(.stopping, "\(left.count) reports are not published; the slice's next owner does it")
            }
            attempt += 1
            try await Task.sleep(for: .milliseconds(min(5_000, 100 << min(attempt, 6))))
        }
        return attempt == 0
    }

    /// The names that `name(of:)` returns.
    static let targetNames = ["gateway", "realms", "outcomes", "changes", "dead", "slice"]

    /// Returns the target as logs and metrics show it: one of few different names.
    private func name(of target: Publication.Target) -> String {
        switch target {
        case .queue: "gateway"
        case .realms: "realms"
        case .outcomes: "outcomes"
        case .changes: "changes"
        case .dead: "dead"
        case .slice: "slice"
        }
    }

    private func address(of target: Publication.Target) -> (exchange: String, key: String) {
        switch target {
        case .queue(let name): ("", name)
        case .realms(let key): (topology.realms, key)
        case .outcomes: (topology.outcomes, "")
        case .changes(let key): (topology.changes, key)
        case .dead: (topology.dead, "")
        case .slice(let number): (topology.slices, String(number.value))
        }
    }
}
