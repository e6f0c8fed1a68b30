import AMQP
import Changesets
import ExtendedJSON
import LocalCluster
import Logging
import MergeConformance
import Messages
import SeededRandom
import SyncModel
import Synchronization

/// Follows an app's changes as docs/change-feed.md says: from a feed's queue, which outlives it, keeping the last place of each realm. Reads a realm
/// anew where a change is missing, and dies now and then between what it does and the acknowledgement.
final class FeedFollower: Sendable {
    /// A realm as it is by its changes.
    struct Followed {
        var documents = ReplayedDocuments()
        var last: ChangePlace?
        var history: String?
    }

    private struct State {
        var realms: [String: Followed] = [:]
        var changes = 0
        var repetitions = 0
        var gaps = 0
        var findings: [String] = []
        var trouble: [String] = []
    }

    let app: String
    private let cluster: LocalCluster
    private let topology: Topology
    private let state = Mutex(State())

    private static let name = "follower"

    init(app: String, cluster: LocalCluster) {
        self.app = app
        self.cluster = cluster
        topology = Topology(prefix: cluster.prefix)
    }

    /// Changes that counted.
    var changes: Int { state.withLock { $0.changes } }
    /// Changes that came again.
    var repetitions: Int { state.withLock { $0.repetitions } }
    /// How often a change was missing, and the realm was read anew.
    var gaps: Int { state.withLock { $0.gaps } }
    /// What is wrong with what was told.
    var findings: [String] { state.withLock { $0.findings } }
    /// Errors of its connections, some of them.
    var trouble: [String] { state.withLock { $0.trouble } }

    func documents(of realm: RealmName) -> ReplayedDocuments {
        state.withLock { $0.realms[realm.topicKey]?.documents ?? ReplayedDocuments() }
    }

    private var queue: String { topology.feed("\(Self.name)-\(app)") }

    /// Makes the feed, as `sluice feeds create` does.
    func makeFeed() async throws {
        let connection = try await connect()
        do {
            let channel = try await connection.openChannel()
            let name = "\(Self.name)-\(app)"
            try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: topology.lostOfFeed(name), durable: true, arguments: topology.lostQueueArguments))
            try await channel.declareQueue(
                AMQPQueueDeclaration(
                    name: queue, durable: true,
                    arguments: topology.feedQueueArguments(name, keep: 86_400_000, maxBytes: 1 << 30)))
            for key in Topology.changeKeys(app: app, class: nil) {
                try await channel.bindQueue(queue, exchange: topology.changes, routingKey: key)
            }
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
    }

    /// Follows until it is cancelled.
    func follow(_ random: SeededGenerator) async {
        var random = random
        while !Task.isCancelled {
            do {
                let connection = try await connect()
                do {
                    try await live(
                        on: connection, for: .milliseconds(Int.random(in: 1_000...8_000, using: &random)),
                        diesEarly: Bool.random(using: &random))
                } catch {
                    await connection.close()
                    throw error
                }
                await connection.close()
            } catch {
                state.withLock { if $0.trouble.count < 20 { $0.trouble.append("\(error)") } }
                try? await Task.sleep(for: .milliseconds(300))
            }
        }
    }

    private func connect() async throws -> AMQPConnection {
        let connection = AMQPConnection(
            configuration: try AMQPConfiguration(url: cluster.amqpURL),
            logger: Logger(label: "fire.feed") { _ in SwiftLogNoOpLogHandler() })
        try await connection.start()
        return connection
    }

    /// - Parameter diesEarly: without having said that it did the last that it did.
    private func live(on connection: AMQPConnection, for time: Duration, diesEarly: Bool) async throws {
        let channel = try await connection.openChannel(prefetch: 64)
        let consumer = try await channel.consume(queue: queue)
        let end = ContinuousClock.now + time
        while !Task.isCancelled {
            if consumer.bufferedCount == 0 { await consumer.waitForDelivery(upTo: .milliseconds(200)) }
            let isOver = ContinuousClock.now > end
            guard consumer.bufferedCount > 0 else {
                if isOver { return }
                continue
            }
            guard let batch = try await consumer.nextBatch(max: 64) else { return }
            for delivery in batch { try await take(delivery.message) }
            if isOver, diesEarly { return }
            if let last = batch.last { try await consumer.ack(upTo: last) }
            if isOver { return }
        }
    }

    private func take(_ message: AMQPMessage) async throws {
        let told: ChangesMessage
        do {
            told = try message.decode(ChangesMessage.self)
        } catch {
            return state.withLock { $0.findings.append("\(app): changes that cannot be read: \(error)") }
        }
        for change in told.changes { try await take(change) }
    }

    private func take(_ change: FeedChange) async throws {
        let known = state.withLock { $0.realms[change.realm.topicKey] }
        if let follows = change.follows.inRealm, let last = known?.last, follows > last,
            known?.history == change.history
        {
            try await catchUp(change.realm, since: FeedPlace(last, of: change.history))
        }
        state.withLock { state in
            var realm = state.realms[change.realm.topicKey] ?? Followed()
            if let last = realm.last, change.place <= last {
                state.repetitions += 1
                return
            }
            if let known = realm.history, known != change.history {
                state.findings.append("\(change.realm): another history, though no store was put back")
            }
            realm.last = change.place
            realm.history = change.history
            let applied = realm.documents.apply(change.change)
            state.realms[change.realm.topicKey] = realm
            state.changes += 1
            if !applied, state.findings.count < 20 {
                state.findings.append(
                    "\(change.realm) at \(change.place): a change that does not fit what came before: \(ExtendedJSONWriter.text(of: .document(change.change)))"
                )
            }
        }
    }

    // MARK: What is missing

    /// Reads what a realm's documents are that were touched since a place; all of them, if that place is gone.
    private func catchUp(_ realm: RealmName, since place: FeedPlace) async throws {
        let partition = realm.isFlexible ? [] : ["--partition", realm.partition]
        let command = ["changes", "follow", app, "--once", "--json"] + partition
        var told: String
        var followed = state.withLock { $0.realms[realm.topicKey] } ?? Followed()
        do {
            told = try await cluster.operate(command + ["--from", place.description])
        } catch let error as LocalClusterError where "\(error)".contains("place_gone") {
            told = try await cluster.operate(command + ["--from", "start"])
            followed.documents = ReplayedDocuments()
        }
        for line in told.split(separator: "\n") {
            let event = try ExtendedJSONParser.parse(Array(line.utf8)).document
            guard let data = event?["data"]?.document else { continue }
            if event?["event"]?.string == "document", let name = data["class"]?.string, let key = data["key"] {
                followed.documents.put(data["document"]?.document, at: key, of: name)
            } else if event?["event"]?.string == "state", let generation = data["generation"]?.integer,
                let version = data["version"]?.integer
            {
                followed.last = ChangePlace(
                    generation: UInt64(clamping: generation), version: ServerVersion(UInt64(clamping: version)),
                    index: .max)
                followed.history = data["history"]?.string?.string
            }
        }
        state.withLock { [followed] state in
            state.realms[realm.topicKey] = followed
            state.gaps += 1
        }
    }
}
