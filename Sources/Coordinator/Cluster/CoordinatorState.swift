import Messages
import Operations
import SyncModel
import Synchronization

/// What the parts of a coordinator know together. None of it outlives the process; what must is in the store.
final class CoordinatorState: Sendable {
    private struct State {
        var cluster = ClusterView()
        var activity: Activity
        var owedNotices: Set<ChangeNotice> = []
        /// Ticks sent to slices since they were last heard to have an owner.
        var unheardTicks: [SliceNumber: UnheardTicks] = [:]
        var isStopping = false
    }

    private static let maxOwedUsers = 1000
    let campaignGauges = CampaignGauges()
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

    func unheardTicks(of slice: SliceNumber) -> UnheardTicks {
        state.withLock { $0.unheardTicks[slice, default: UnheardTicks()] }
    }
    func ticked(_ slice: SliceNumber, at now: UInt64) {
        state.withLock { $0.unheardTicks[slice, default: UnheardTicks()].sent(at: now) }
    }
    func hasOwner(_ slice: SliceNumber) { state.withLock { state in state.unheardTicks[slice] = nil } }

    /// What gateways and owners still have to hear.
    ///
    /// Of users at most `maxOwedUsers` are named; beyond them gateways hear that the app has changed, and read all users again.
    var owedNotices: Set<ChangeNotice> { state.withLock { $0.owedNotices } }
    func owe(_ notice: ChangeNotice) {
        state.withLock { state in
            state.owedNotices.insert(notice)
            guard case .user = notice, state.owedNotices.count > Self.maxOwedUsers else { return }
            state.owedNotices = Set(
                state.owedNotices.map { notice in
                    if case .user(let app, _) = notice { .settings(app: app) } else { notice }
                })
        }
    }
    func settle(_ notice: ChangeNotice) { state.withLock { _ = $0.owedNotices.remove(notice) } }

    /// Streams end when it is set, so that the server can.
    var isStopping: Bool { state.withLock { $0.isStopping } }
    func stop() { state.withLock { $0.isStopping = true } }
}
