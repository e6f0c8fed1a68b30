import AMQP
import SyncModel
import Synchronization

/// The bindings of the gateway's queue at the exchange of notices, as `BindingPlan` decides.
///
/// They are not declared again by the AMQP client: after a loss the plan begins anew (`renew`), which takes one binding for each app
/// with many sessions.
final class TopicBindings: Sendable {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var plan: BindingPlan
        var channel: AMQPChannel?
        /// The connection that the queue is on.
        var generation = 0
        /// What was asked before the plan began anew says nothing of what is bound now.
        var turn = 0
        /// The calls that wait for a binding, by its key.
        var waiters: [String: [Waiter]] = [:]
    }

    private let state: Mutex<State>
    private let queue: String
    private let exchange: String

    init(queue: String, exchange: String, linger: Duration = .seconds(10)) {
        self.queue = queue
        self.exchange = exchange
        state = Mutex(State(plan: BindingPlan(linger: linger.milliseconds)))
    }

    /// Binds on this channel, on the connection of this generation, from now on.
    func use(_ channel: AMQPChannel, generation: Int) {
        state.withLock { state in
            state.channel = channel
            state.generation = generation
        }
    }

    /// Keys, and patterns that stand for many of them.
    var counts: (keys: Int, patterns: Int) { state.withLock { ($0.plan.count, $0.plan.patternCount) } }

    // MARK: Users

    /// Returns once the queue is bound for all keys.
    func retain(_ keys: [String]) async throws {
        if !retainAtOnce(keys) { try await wait(for: keys) }
    }

    /// Returns once the queue is bound for all keys, of which the caller is a user; if it cannot be, the caller is none any more.
    func wait(for keys: [String]) async throws {
        do {
            for key in keys { try await covered(key) }
        } catch {
            release(keys, at: 0)
            throw error
        }
    }

    /// Counts a user of the keys.
    ///
    /// - Returns: whether the queue is bound for all of them already. If not, `wait` says when it is.
    func retainAtOnce(_ keys: [String]) -> Bool {
        let (isCovered, actions, turn) = state.withLock { state in
            for key in keys { state.plan.retain(key) }
            return (keys.allSatisfy(state.plan.covers), state.plan.next(), state.turn)
        }
        start(actions, turn)
        return isCovered
    }

    func release(_ keys: [String], at now: UInt64) {
        state.withLock { state in for key in keys { state.plan.release(key, at: now) } }
    }

    /// Returns the deliveries that somebody here wants, or wanted until lately: patterns bring notices of other gateways' sessions.
    func wanted(_ deliveries: [AMQPDelivery]) -> [AMQPDelivery] {
        state.withLock { state in
            deliveries.filter { $0.exchange != exchange || state.plan.wants($0.routingKey) }
        }
    }

    /// Does what is due at a pace.
    func sweep(at now: UInt64) {
        let (actions, turn) = state.withLock { ($0.plan.tick(at: now), $0.turn) }
        start(actions, turn)
    }

    // MARK: Loss

    /// Binds with every key again: the queue was declared anew. Returns once it is bound for all of them.
    func renew() async throws {
        let (keys, actions, turn) = state.withLock { state in
            state.turn += 1
            state.plan.renew()
            return (state.plan.keys, state.plan.next(), state.turn)
        }
        start(actions, turn)
        for key in keys { try await covered(key) }
    }

    /// The same if the queue is on another connection than before.
    func renew(on generation: Int) async throws {
        guard state.withLock({ $0.generation }) != generation else { return }
        try await renew()
        state.withLock { $0.generation = generation }
    }

    /// Nobody waits any more: the broker is away.
    func fail(_ error: GatewayError) {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap(\.self)
        }
        for waiter in waiters { waiter.resume(throwing: error) }
    }

    // MARK: Binding

    private func covered(_ key: String) async throws {
        try await withCheckedThrowingContinuation { (waiter: Waiter) in
            let result: Result<Void, any Error>? = state.withLock { state in
                if state.plan.covers(key) { return .success(()) }
                guard state.plan.isPending(key) else {
                    return .failure(GatewayError(.brokerUnavailable, "the queue could not be bound"))
                }
                state.waiters[key, default: []].append(waiter)
                return nil
            }
            if let result { waiter.resume(with: result) }
        }
    }

    private func start(_ actions: [BindingPlan.Action], _ turn: Int) {
        guard !actions.isEmpty else { return }
        let channel = state.withLock { $0.channel }
        for action in actions {
            // Unstructured, because many wait for one binding, which outlives any of them; the plan bounds their number.
            Task {
                do {
                    guard let channel else { throw GatewayError(.brokerUnavailable, "not connected to the broker") }
                    switch action {
                    case .bind(let key):
                        try await channel.bindQueue(queue, exchange: exchange, routingKey: key, record: false)
                    case .unbind(let key): try await channel.unbindQueue(queue, exchange: exchange, routingKey: key)
                    }
                    finish(action, turn, nil)
                } catch {
                    finish(action, turn, error)
                }
            }
        }
    }

    private func finish(_ action: BindingPlan.Action, _ turn: Int, _ error: (any Error)?) {
        let (waiters, actions, now) = state.withLock { state -> ([Waiter], [BindingPlan.Action], Int) in
            guard state.turn == turn else {
                if case .unbind(let key) = action, error == nil { state.plan.undone(key) }
                return ([], state.plan.next(), state.turn)
            }
            state.plan.done(action, failed: error != nil)
            let actions = state.plan.next()
            guard case .bind(let key) = action else { return ([], actions, turn) }
            var told: [Waiter] = []
            if error == nil, key.hasSuffix(".*") {
                for key in state.waiters.keys where state.plan.covers(key) {
                    told += state.waiters.removeValue(forKey: key) ?? []
                }
            } else {
                told = state.waiters.removeValue(forKey: key) ?? []
            }
            return (told, actions, turn)
        }
        for waiter in waiters {
            if let error { waiter.resume(throwing: error) } else { waiter.resume() }
        }
        start(actions, now)
    }
}
