import AMQP
import Logging
import Messages
import ServiceLifecycle

/// Keeps the dead-letter queue from growing without end: beyond the setting's number of letters, the oldest of the apps that fill
/// the queue go.
struct DeadLetterWarden: Sendable {
    let context: CoordinatorContext
    /// How often the queue is gone through for letters to drop, which a look by somebody else may keep out of sight.
    static let maxDropVisits = 3

    /// Looks with every tick while this coordinator is the active one, until the process stops.
    func run() async {
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            if context.state.isActive { await look() }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: context.configuration.tickInterval) }
        }
    }

    /// Looks how many letters there are, and makes room if they are too many.
    func look() async {
        do {
            let most = context.configuration.maxDeadLetters
            let count = try await context.link.inspect(context.topology.dead).messageCount
            CoordinatorMetrics.deadLetters(count)
            if count > most { try await makeRoom(DeadLetterQuota(most: most)) }
        } catch {
            CoordinatorMetrics.deadLetters(nil)
            context.logger.warning(
                "dead letters not looked at, will try again",
                metadata: ["queue": "\(context.topology.dead)", "error": "\(error)"])
        }
    }

    private func makeRoom(_ quota: DeadLetterQuota) async throws {
        let queue = context.deadLetters
        // What has come meanwhile is looked at, too, but not without end.
        let limit = quota.most * 2
        var letters: [DeadLetterQuota.Letter] = []
        let visit = try await queue.visit(limit: limit) { letter, _ in
            letters.append(.init(name: letter.name, app: letter.app, diedAt: letter.diedAt))
            return .kept
        }
        // A part of the letters does not say which are the oldest: somebody else is looking at the others, and the next tick sees all.
        guard visit.seen >= min(visit.of, limit) else { return }
        let surplus = quota.surplus(of: letters)
        guard !surplus.isEmpty else { return }
        let names = Set(surplus.map(\.name))
        var dropped: [String: Int] = [:]
        var left = names
        for _ in 0..<Self.maxDropVisits where !left.isEmpty {
            _ = try await queue.visit(
                limit: limit, { letter, _ in names.contains(letter.name) ? .dropped : .kept },
                done: { letter, _, fate in
                    guard case .dropped = fate else { return }
                    dropped[letter.app ?? "", default: 0] += 1
                    left.remove(letter.name)
                })
        }
        for (app, count) in dropped {
            CoordinatorMetrics.deadLettersDropped(count, app: app)
            context.logger.error(
                "the dead-letter queue is full: the oldest letters of an app are dropped",
                metadata: ["queue": "\(context.topology.dead)", "app": "\(app)", "count": "\(count)"])
        }
    }
}
