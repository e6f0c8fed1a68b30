import SyncModel
import Synchronization

/// What the clients of a run have done and seen, together.
final class LoadLedger: Sendable {
    private struct State {
        var live: Set<Int> = []
        var everLive: Set<Int> = []
        var over: Set<Int> = []
        var sent: [Int]
        var acknowledged: [Int]
        var delivered: [Int]
        var sentInGroup: [Int]
        var heldBack = 0
        var reconnects = 0
        var failures: [String: Int] = [:]
        var opening = LatencyHistogram()
        var acknowledging = LatencyHistogram()
        var delivering = LatencyHistogram()
        var sentMeasured = 0
        var acknowledgedMeasured = 0
        var deliveredMeasured = 0
        var measuredFrom: Int64?
        var measuredTo: Int64?
    }

    /// Different failures that are told apart.
    private static let maxFailures = 100

    private let plan: LoadPlan
    private let state: Mutex<State>

    init(_ plan: LoadPlan) {
        self.plan = plan
        let none = [Int](repeating: 0, count: plan.clients)
        state = Mutex(
            State(
                sent: none, acknowledged: none, delivered: none,
                sentInGroup: [Int](repeating: 0, count: max(1, plan.groups))))
    }

    func measure(from: Int64, to: Int64) {
        state.withLock { ($0.measuredFrom, $0.measuredTo) = (from, to) }
    }

    /// - Parameter nanoseconds: since the client began to connect.
    func isLive(_ client: Int, after nanoseconds: Int64) {
        state.withLock { state in
            state.live.insert(client)
            guard state.everLive.insert(client).inserted else { return }
            state.opening.add(microseconds: UInt64(max(0, nanoseconds) / 1000))
        }
    }

    func wasLost(_ client: Int) { state.withLock { _ = $0.live.remove(client) } }

    /// The client does not come back.
    func isOver(_ client: Int) { state.withLock { _ = $0.over.insert(client) } }

    func reconnects() { state.withLock { $0.reconnects += 1 } }

    func failed(_ reason: String) {
        state.withLock { state in
            let isKnown = state.failures[reason] != nil || state.failures.count < Self.maxFailures
            state.failures[isKnown ? String(reason.prefix(200)) : "others", default: 0] += 1
        }
    }

    func heldBack() { state.withLock { $0.heldBack += 1 } }

    func sent(_ client: Int, at moment: Int64) {
        state.withLock { state in
            state.sent[client] += 1
            state.sentInGroup[plan.group(of: client)] += 1
            if Self.isMeasured(moment, state) { state.sentMeasured += 1 }
        }
    }

    func saw(_ effects: LoadSession.Effects, _ client: Int, at now: Int64) {
        guard !effects.acknowledged.isEmpty || !effects.delivered.isEmpty else { return }
        state.withLock { state in
            state.acknowledged[client] += effects.acknowledged.count
            state.delivered[client] += effects.delivered.count
            for moment in effects.acknowledged where Self.isMeasured(moment, state) {
                state.acknowledgedMeasured += 1
                state.acknowledging.add(microseconds: UInt64(max(0, now - moment) / 1000))
            }
            for moment in effects.delivered where Self.isMeasured(moment, state) {
                state.deliveredMeasured += 1
                state.delivering.add(microseconds: UInt64(max(0, now - moment) / 1000))
            }
        }
    }

    private static func isMeasured(_ moment: Int64, _ state: State) -> Bool {
        guard let from = state.measuredFrom, let to = state.measuredTo else { return false }
        return moment >= from && moment < to
    }

    /// Whether every client is live, or will never be.
    var areAllOpen: Bool { state.withLock { $0.everLive.union($0.over).count == plan.clients } }
    var liveCount: Int { state.withLock { $0.live.count } }
    var openedCount: Int { state.withLock { $0.everLive.count } }

    /// Changesets that nobody has acknowledged, and changesets that others should have been sent and were not.
    var missing: (acknowledgements: Int, deliveries: Int) { state.withLock { Self.missing($0, plan) } }

    private static func missing(_ state: State, _ plan: LoadPlan) -> (acknowledgements: Int, deliveries: Int) {
        let acknowledgements = zip(state.sent, state.acknowledged).reduce(0) { $0 + max(0, $1.0 - $1.1) }
        guard plan.sharing > 1 else { return (acknowledgements, 0) }
        let deliveries = state.everLive.reduce(0) { sum, client in
            let expected = state.sentInGroup[plan.group(of: client)] - state.sent[client]
            return sum + max(0, expected - state.delivered[client])
        }
        return (acknowledgements, deliveries)
    }

    func report(seconds: Double) -> LoadReport {
        state.withLock { state in
            let missing = Self.missing(state, plan)
            return LoadReport(
                app: plan.app, mode: plan.mode.rawValue, clients: plan.clients, sharing: plan.sharing,
                opened: state.everLive.count, seconds: seconds, sent: state.sentMeasured,
                acknowledged: state.acknowledgedMeasured, delivered: state.deliveredMeasured,
                notAcknowledged: missing.acknowledgements, notDelivered: missing.deliveries,
                heldBack: state.heldBack, reconnects: state.reconnects, failures: state.failures,
                opening: .init(state.opening), acknowledging: .init(state.acknowledging),
                delivering: plan.sharing > 1 ? .init(state.delivering) : nil)
        }
    }
}
