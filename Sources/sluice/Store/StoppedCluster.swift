import AMQP
import Messages
import SyncModel

extension ClusterSettings {
    /// Says whether workers consume the cluster's queues, as far as the broker can be asked.
    ///
    /// - Parameter consequence: what would happen otherwise.
    func requireStopped(_ consequence: String) async throws {
        let slices = try sliceCount()
        let busy: Int
        do {
            busy = try await withBroker(name: "store") { connection in
                let channel = try await connection.openChannel()
                var consumers = 0
                for slice in slices.all {
                    let queue = AMQPQueueDeclaration(name: topology.slice(slice), passive: true)
                    consumers += try await channel.declareQueue(queue, record: false).consumerCount
                }
                return consumers
            }
        } catch let error as AMQPError {
            if error.code != .notFound { Printing.note("whether workers run cannot be told: \(error)") }
            return
        }
        guard busy == 0 else {
            throw CommandFailure(
                .badInput, "workers still consume the cluster's queues: stop them first. \(consequence)")
        }
    }

    /// Sees that workers do not run and that nothing waits for them: of what goes to every slice, slices that come later would
    /// not hear.
    ///
    /// - Throws: also if the broker cannot say.
    func requireIdle(_ slices: [SliceNumber]) async throws {
        let (busy, waiting) = try await withBroker(name: "slices") { connection in
            var busy = 0
            var waiting: [(slice: SliceNumber, messages: Int)] = []
            for slice in slices {
                let declaration = AMQPQueueDeclaration(name: topology.slice(slice), passive: true)
                // A queue that is not there ends the channel.
                let channel = try await connection.openChannel()
                do {
                    let queue = try await channel.declareQueue(declaration, record: false)
                    busy += queue.consumerCount
                    if queue.messageCount > 0 { waiting.append((slice, queue.messageCount)) }
                    await channel.close()
                } catch let error as AMQPError where error.code == .notFound {
                    continue
                }
            }
            return (busy, waiting)
        }
        guard busy == 0 else {
            throw CommandFailure(.badInput, "workers still consume the cluster's queues: stop all processes first")
        }
        guard waiting.isEmpty else {
            let some = waiting.prefix(5).map { "\($0.messages) for slice \($0.slice)" }.joined(separator: ", ")
            throw CommandFailure(
                .tryAgain,
                """
                messages wait for \(waiting.count.counted("slice")) (\(some)): start the workers again, with coordinators and gateways \
                stopped, until sluice broker queues shows none
                """)
        }
    }
}
