import AMQP
import SyncModel

/// The routing keys that the gateway's queue is bound with, counted by their users.
///
/// A key stays bound for a while after its last user: clients leave and return.
actor TopicBindings {
    private struct Entry {
        var users = 0
        var unusedSince: UInt64 = 0
        var isBound = false
        var binding: Task<Void, any Error>?
    }

    private var entries: [String: Entry] = [:]
    private var channel: AMQPChannel?
    private let queue: String
    private let exchange: String
    private let linger: UInt64

    init(queue: String, exchange: String, linger: Duration = .seconds(10)) {
        self.queue = queue
        self.exchange = exchange
        self.linger = linger.milliseconds
    }

    func use(_ channel: AMQPChannel) { self.channel = channel }

    /// Binds with every key again: the queue was declared anew.
    func rebind() async throws {
        for key in entries.keys { entries[key]?.isBound = false }
        for key in Array(entries.keys) { try await bind(key) }
    }

    /// Returns once the queue is bound with all keys.
    func retain(_ keys: [String]) async throws {
        for key in keys { entries[key, default: Entry()].users += 1 }
        do {
            for key in keys { try await bind(key) }
        } catch {
            release(keys, at: 0)
            throw error
        }
    }

    func release(_ keys: [String], at now: UInt64) {
        for key in keys {
            guard var entry = entries[key] else { continue }
            entry.users -= 1
            entry.unusedSince = now
            entries[key] = entry
        }
    }

    var count: Int { entries.count }

    /// Unbinds the keys that have had no user for `linger`.
    func sweep(at now: UInt64) async {
        guard let channel else { return }
        let unused = entries.filter { $0.value.users <= 0 && now >= $0.value.unusedSince &+ linger }
        for (key, entry) in unused {
            guard let current = entries[key], current.users <= 0, current.binding == nil else { continue }
            entries[key] = nil
            if entry.isBound { try? await channel.unbindQueue(queue, exchange: exchange, routingKey: key) }
            // A user that came during the unbinding was bound before it: bind again.
            if entries[key]?.isBound == true {
                entries[key]?.isBound = false
                try? await bind(key)
            }
        }
    }

    private func bind(_ key: String) async throws {
        guard let entry = entries[key], !entry.isBound else { return }
        if let binding = entry.binding { return try await binding.value }
        guard let channel else { throw GatewayError(.brokerUnavailable, "not connected to the broker") }
        let (queue, exchange) = (queue, exchange)
        // Unstructured, because all users of the key wait for the one binding, which outlives any of them.
        let binding = Task { try await channel.bindQueue(queue, exchange: exchange, routingKey: key) }
        entries[key]?.binding = binding
        do {
            try await binding.value
            entries[key]?.isBound = true
            entries[key]?.binding = nil
        } catch {
            entries[key]?.binding = nil
            throw error
        }
    }
}
