import AMQP
import Messages
import Operations
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
}
