import Messages
import Operations
import SyncModel
import Synchronization

/// What the parts of a coordinator know together. None of it outlives the process; what must is in the store.
final class CoordinatorState: Sendable {
    private struct State {
        var cluster = ClusterView()
        var activity: Activity
        var owedNotices: Set<String> = []
        /// Ticks sent to slices since they were last heard to have an owner.
        var unheardTicks: [SliceNumber: Int] = [:]
        var isStopping = false
    }

    private let state: Mutex<State>

    init(tickInterval: Duration) {
        let patience = UInt64(clamping: tickInterval.nanoseconds / 1_000_000) &* 4 &+ 2000
        state = Mutex(State(activity: Activity(patience: patience)))
    }

    var isActive: Bool { state.withLock { $0.activity.isActive } }
    func delivered(at now: UInt64) -> Bool { state.withLock { $0.activity.delivered(at: now) } }
    func lostConsumer() -> Bool { state.withLock { $0.activity.lost() } }
    func passed(to now: UInt64) -> Bool { state.withLock { $0.activity.passed(to: now) } }

    func heard(_ message: HeartbeatMessage, at now: UInt64) { state.withLock { $0.cluster.heard(message, at: now) } }
    var cluster: ClusterView { state.withLock { $0.cluster } }

    /// How many ticks were sent to a slice since it was last heard to have an owner.
    func unheardTicks(of slice: SliceNumber) -> Int { state.withLock { $0.unheardTicks[slice, default: 0] } }
    func ticked(_ slice: SliceNumber) { state.withLock { $0.unheardTicks[slice, default: 0] += 1 } }
    func hasOwner(_ slice: SliceNumber) { state.withLock { state in state.unheardTicks[slice] = nil } }

    /// Apps whose gateways still have to hear that the settings changed.
    var owedNotices: Set<String> { state.withLock { $0.owedNotices } }
    func owe(_ app: String) { state.withLock { _ = $0.owedNotices.insert(app) } }
    func settle(_ app: String) { state.withLock { _ = $0.owedNotices.remove(app) } }

    /// Streams end when it is set, so that the server can.
    var isStopping: Bool { state.withLock { $0.isStopping } }
    func stop() { state.withLock { $0.isStopping = true } }
}
