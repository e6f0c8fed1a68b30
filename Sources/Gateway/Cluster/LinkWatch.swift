import AMQP
import Logging

/// Tells a link over several connections when it is down and when it is up again.
///
/// Changes are taken one after the other, and a connection that was lost and made again between two looks is known by
/// its generation: what was sent to this gateway meanwhile is gone all the same.
struct LinkWatch: Sendable {
    /// The current state of each connection.
    let states: @Sendable () -> [AMQPConnectionState]
    /// Returns once queue and bindings are declared again. Any operation that the broker answers waits for that; before
    /// it, an answer has nowhere to go and a notice is not heard.
    let recover: @Sendable () async throws -> Void
    let isDown: @Sendable () -> Void
    let isUp: @Sendable () -> Void
    let logger: Logger

    /// - Parameter updates: of each connection; what they hold does not matter, since such streams coalesce.
    func run(_ updates: [AsyncStream<AMQPConnectionState>]) async {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            for stream in updates {
                group.addTask { for await _ in stream { change.yield() } }
            }
            group.addTask { await follow(changes) { change.yield() } }
        }
    }

    private func follow(_ changes: AsyncStream<Void>, lookAgain: () -> Void) async {
        var current: [Int]?
        for await _ in changes {
            let states = states()
            let connected = states.compactMap(\.generation)
            let generations = connected.count == states.count ? connected : nil
            guard generations != current || generations == nil else { continue }
            isDown()
            current = nil
            guard let generations else { continue }
            do {
                try await recover()
                current = generations
                isUp()
            } catch {
                logger.warning("the gateway's queue is not there yet", metadata: ["error": "\(error)"])
                // A lost connection is a change of its own; otherwise the queue is only late.
                try? await Task.sleep(for: .milliseconds(200))
                lookAgain()
            }
        }
    }
}

extension AMQPConnectionState {
    /// How often the connection has been made; nil while it is not there.
    var generation: Int? { if case .connected(let generation) = self { generation } else { nil } }
}
