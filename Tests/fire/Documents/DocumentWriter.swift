import AMQP
import Changesets
import ExtendedJSON
import Foundation
import LocalCluster
import Logging
import Messages
import SeededRandom
import SyncModel
import Synchronization

/// A backend that writes documents beside a partition's devices, each write again and again with the same id until its realm's owner has answered.
final class DocumentWriter: Sendable {
    private struct Ledger {
        var attempted = 0
        var acknowledged = 0
        /// Answered as written before.
        var repetitions = 0
        var entries: Set<String> = []
        var increments = 0
        var lines: Set<String> = []
        /// What is not answered yet.
        var open: Write?
        var refusals: [String] = []
        var trouble: [String] = []
    }

    private struct Write {
        var id: String
        var writes: BSONValue
    }

    let name: String
    let realm: RealmName
    private let slices: Int
    private let amqpURL: String
    private let topology: Topology
    private let ledger = Mutex(Ledger())

    /// How long an owner may take to answer before the write is sent again.
    private static let patience = Duration.seconds(5)

    init(name: String, realm: RealmName, cluster: LocalCluster) {
        self.name = name
        self.realm = realm
        slices = cluster.slices
        amqpURL = cluster.amqpURL
        topology = Topology(prefix: cluster.prefix)
    }

    var attempted: Int { ledger.withLock { $0.attempted } }
    var acknowledged: Int { ledger.withLock { $0.acknowledged } }
    var repetitions: Int { ledger.withLock { $0.repetitions } }
    var entries: Set<String> { ledger.withLock { $0.entries } }
    var increments: Int { ledger.withLock { $0.increments } }
    var lines: Set<String> { ledger.withLock { $0.lines } }
    var refusals: [String] { ledger.withLock { $0.refusals } }
    var trouble: [String] { ledger.withLock { $0.trouble } }

    /// Writes until it is cancelled; the last write may have no answer then.
    func work(_ random: SeededGenerator, pace: Duration) async {
        var random = random
        while !Task.isCancelled {
            await connected { [self] channel, inbox in
                while !Task.isCancelled {
                    if ledger.withLock({ $0.open }) == nil { begin(Int.random(in: 0..<100, using: &random)) }
                    try await send(on: channel, inbox)
                    try await Task.sleep(for: pace * Double.random(in: 0.5...1.5, using: &random))
                }
            }
        }
    }

    /// Sends what has no answer until it has one.
    func finish() async {
        while !Task.isCancelled, ledger.withLock({ $0.open }) != nil {
            await connected { [self] channel, inbox in try await send(on: channel, inbox) }
        }
    }

    /// Runs `body` with a connection of its own; what goes wrong with it is noted.
    private func connected(_ body: (AMQPChannel, AnswerInbox) async throws -> Void) async {
        do {
            let connection = AMQPConnection(
                configuration: try AMQPConfiguration(url: amqpURL),
                logger: Logger(label: "fire.writer") { _ in SwiftLogNoOpLogHandler() })
            try await connection.start()
            do {
                let channel = try await connection.openChannel(confirms: true)
                let inbox = try await AnswerInbox.open(on: connection)
                let listening = Task { try await inbox.run() }
                defer { listening.cancel() }
                try await body(channel, inbox)
            } catch {
                await connection.close()
                throw error
            }
            await connection.close()
        } catch is CancellationError {
        } catch {
            ledger.withLock { if $0.trouble.count < 20 { $0.trouble.append("\(error)") } }
            try? await Task.sleep(for: .milliseconds(300))
        }
    }

    /// Chooses the next write.
    private func begin(_ die: Int) {
        ledger.withLock { ledger in
            let id = "\(name)/\(ledger.attempted)"
            let text = BSONValue(id)
            let write: BSONDocument
            switch die {
            case 50..<65 where !ledger.entries.isEmpty:
                write = [
                    "update": "Entry", "id": BSONValue(ledger.entries.min() ?? ""),
                    "set": ["text": BSONValue("rewritten by \(id)")],
                ]
            case 65..<82:
                write = ["update": "Shared", "id": "shared", "apply": ["$inc": ["count": 1]]]
                ledger.increments += 1
            case 82...:
                write = ["update": "Shared", "id": "shared", "apply": ["$push": ["lines": text]]]
                ledger.lines.insert(id)
            default:
                write = ["upsert": "Entry", "document": ["_id": text, "text": BSONValue("written by \(name)")]]
                ledger.entries.insert(id)
            }
            ledger.attempted += 1
            ledger.open = Write(id: id, writes: [.document(write)])
        }
    }

    private func send(on channel: AMQPChannel, _ inbox: AnswerInbox) async throws {
        guard let write = ledger.withLock({ $0.open }), let count = SliceCount(slices) else { return }
        let message = try AMQPMessage(
            WriteMessage(realm: realm, writes: write.writes), id: write.id, correlationID: write.id,
            replyTo: inbox.queue)
        let slice = realm.slice(of: count)
        let answer = try await inbox.ask(write.id, within: Self.patience) { [topology] in
            try await channel.publish(
                message, exchange: topology.slices, routingKey: "\(slice.value)", mandatory: true)
        }
        ledger.withLock { ledger in
            ledger.open = nil
            switch answer {
            case .written(let written):
                ledger.acknowledged += 1
                if written.isRepetition { ledger.repetitions += 1 }
            case .refused(let refusal): ledger.refusals.append("\(write.id): \(refusal.code): \(refusal.reason)")
            }
        }
    }
}
