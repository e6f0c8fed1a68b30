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

/// A backend that writes documents beside devices, each message again and again with the same id until its realm's owner has answered.
final class DocumentWriter: Sendable {
    private struct Ledger {
        var attempted = 0
        var acknowledged = 0
        /// Answered as written before.
        var repetitions = 0
        /// What it has made, and not deleted: entries, or cards.
        var entries: Set<String> = []
        var deleted: Set<String> = []
        /// How often it has raised the count of each of its cards.
        var hits: [String: Int] = [:]
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
    /// What it has made, and not deleted.
    var entries: Set<String> { ledger.withLock { $0.entries } }
    var deleted: Set<String> { ledger.withLock { $0.deleted } }
    var hits: [String: Int] { ledger.withLock { $0.hits } }
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
                    if ledger.withLock({ $0.open }) == nil { begin(&random) }
                    try await send(on: channel, inbox)
                    try await Task.sleep(for: pace * Double.random(in: 0.5...1.5, using: &random))
                }
            }
        }
    }

    /// Sends what has no answer until it has one.
    func finish(withOneMore: Bool) async {
        await finish()
        guard withOneMore else { return }
        var random = SeededGenerator(seed: 1)
        begin(&random)
        await finish()
    }

    private func finish() async {
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

    /// Chooses the next message: one write, or several that are written together.
    private func begin(_ random: inout SeededGenerator) {
        let count = Int.random(in: 0..<10, using: &random) < 7 ? 1 : Int.random(in: 2...5, using: &random)
        let dice = (0..<count).map { _ in Int.random(in: 0..<100, using: &random) }
        ledger.withLock { ledger in
            let id = "\(name)/\(ledger.attempted)"
            let writes = dice.enumerated().map { number, die in
                let part = count == 1 ? id : "\(id)/\(number)"
                return BSONValue.document(
                    realm.isFlexible ? card(die, part, &ledger) : entry(die, part, &ledger))
            }
            ledger.attempted += 1
            ledger.open = Write(id: id, writes: .array(writes))
        }
    }

    /// A write beside devices that share a partition.
    private func entry(_ die: Int, _ id: String, _ ledger: inout Ledger) -> BSONDocument {
        let own = ledger.entries.min()
        switch die {
        case 45..<57:
            guard let own else { break }
            return ["update": "Entry", "id": BSONValue(own), "set": ["text": BSONValue("rewritten by \(id)")]]
        case 57..<65:
            guard let own else { break }
            return delete(own, "Entry", &ledger)
        case 65..<82:
            ledger.increments += 1
            return ["update": "Shared", "id": "shared", "apply": ["$inc": ["count": 1]]]
        case 82...:
            ledger.lines.insert(id)
            return ["update": "Shared", "id": "shared", "apply": ["$push": ["lines": BSONValue(id)]]]
        default: break
        }
        ledger.entries.insert(id)
        return ["upsert": "Entry", "document": ["_id": BSONValue(id), "text": BSONValue("written by \(name)")]]
    }

    /// A write beside devices in flexible mode.
    private func card(_ die: Int, _ id: String, _ ledger: inout Ledger) -> BSONDocument {
        let own = ledger.entries.min()
        // Any group: a backend may what an operator may, whatever the roles are just then.
        let group = ViewWorld.groups.sorted()[die % ViewWorld.groups.count]
        switch die {
        case 45..<80:
            guard let own else { break }
            ledger.hits[own, default: 0] += 1
            return [
                "update": "Card", "id": BSONValue(own),
                "apply": ["$inc": ["hits": 1], "$set": ["group": BSONValue(group)]],
            ]
        case 80..<90:
            guard let own else { break }
            return delete(own, "Card", &ledger)
        default: break
        }
        ledger.entries.insert(id)
        return [
            "insert": "Card",
            "document": [
                "_id": BSONValue(id), "group": BSONValue(group), "text": BSONValue("written by \(name)"), "hits": 0,
            ],
        ]
    }

    private func delete(_ id: String, _ className: String, _ ledger: inout Ledger) -> BSONDocument {
        ledger.entries.remove(id)
        ledger.hits[id] = nil
        ledger.deleted.insert(id)
        return ["delete": BSONValue(className), "id": BSONValue(id)]
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
