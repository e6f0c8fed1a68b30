import AMQP
import Synchronization

/// Says to the other processes of a cluster in which folder this one has the embedded store, and hears from the broker whether that
/// is another than theirs. SQLite's files serve the processes of one machine: on a second one they would be other files, or the
/// same ones over a network, where neither SQLite's locks nor its shared memory reach. Then two workers would own one slice.
///
/// The claim is an exchange through which nothing is ever published, whose argument `alternate-exchange` names the folder: the broker
/// compares it with each declaration's. It is there as long as a process has bound a queue of its own to it.
package final class FolderClaim: Sendable {
    /// The name that tells one folder from all others, as the broker keeps it.
    package let folder: String
    private let exchange: String
    /// The broker may not have noticed yet that their machine is gone.
    private let patience: Duration
    /// Declares the claim again when its connection has been lost.
    private let channel = Mutex<AMQPChannel?>(nil)

    /// - Parameters:
    ///   - folder: short, since the broker cuts its words at 255 bytes, and without a quotation mark.
    ///   - patience: how long a claim of others is waited out.
    package init(_ topology: Topology, folder: String, patience: Duration = .seconds(30)) {
        exchange = topology.folder
        self.folder = folder
        self.patience = patience
    }

    private var arguments: AMQPTable { ["alternate-exchange": .string("\(exchange).\(folder)")] }

    /// Claims the folder for as long as the connection lives.
    /// - Throws: `ForeignBroker` if other processes use another folder; `MissingTopology` if the user may not claim one.
    func make(on connection: AMQPConnection) async throws {
        let end = ContinuousClock.now + patience
        while true {
            // A declaration that is refused closes its channel.
            let channel = try await connection.openChannel()
            do throws(AMQPError) {
                try await channel.declareExchange(
                    exchange, type: .fanout, durable: false, autoDelete: true, arguments: arguments)
                let queue = try await channel.declareQueue(
                    AMQPQueueDeclaration(
                        name: "\(exchange).\(String(UInt64.random(in: 0 ... .max), radix: 36))", durable: false,
                        exclusive: true,
                        arguments: ["x-max-length": 1]))
                try await channel.bindQueue(queue.name, exchange: exchange, routingKey: "")
                self.channel.withLock { $0 = channel }
                return
            } catch {
                await channel.close()
                switch error.code {
                case .accessRefused: throw MissingTopology(["exchange \(exchange)"], error)
                case .preconditionFailed:
                    guard ContinuousClock.now < end else { throw foreign(error.message) }
                    try? await Task.sleep(for: min(.seconds(1), patience / 10))
                // The last process of another claim has gone between the two steps.
                case .notFound where ContinuousClock.now < end: continue
                default: throw error
                }
            }
            try Task.checkCancellation()
        }
    }

    private func foreign(_ message: String) -> ForeignBroker {
        let other = self.folder(namedIn: message).map { " (\($0))" } ?? ""
        return ForeignBroker(
            """
            other processes of this cluster use an embedded store in another folder or on another machine\(other), and this \
            one has \(folder) (machine/folder; the machine as /proc/sys/kernel/random/boot_id begins there): SQLite's files are for the processes of one machine. Run all of them there with the same \
            store.url; for several machines move the store to PostgreSQL (sluice store copy), and set store.url to it \
            everywhere. Nothing was changed
            """)
    }

    /// Reads the other folder from the broker's words: `... received the value '...' of type 'longstr' but current is
    /// the value '...'`; nil where the broker has cut that off.
    private func folder(namedIn message: String) -> String? {
        guard let start = message.ranges(of: "\(exchange).").last?.upperBound else { return nil }
        let other = String(message[start...].prefix { $0 != "'" })
        return other.isEmpty || folder.hasPrefix(other) ? nil : other
    }
}
