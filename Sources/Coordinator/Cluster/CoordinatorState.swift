import AdminAPI
import Messages
import SyncModel
import Synchronization

/// What the parts of a coordinator know together. None of it outlives the process; what must is in the store.
final class CoordinatorState: Sendable {
    private struct State {
        var cluster = ClusterView()
        var clocks = ClockOffsets()
        var processes = ProcessView()
        var activity: Activity
        var owedNotices: Set<ChangeNotice> = []
        /// Ticks sent to slices since they were last heard to have an owner.
        var unheardTicks: [SliceNumber: UnheardTicks] = [:]
        var figures = ClusterFigures()
        var history = ClusterHistory()
        /// Messages that wait in the slices' queues, as the broker said last.
        var ready: [SliceNumber: Int] = [:]
        var isStopping = false
    }

    private static let maxOwedUsers = 1000
    let campaignGauges = CampaignGauges()
    private let state: Mutex<State>

    init(tickInterval: Duration) {
        state = Mutex(State(activity: Activity(patience: tickInterval.milliseconds &* 4 &+ 2000)))
    }

    var isActive: Bool { state.withLock { $0.activity.isActive } }
    func delivered(at now: UInt64) -> Bool { state.withLock { $0.activity.delivered(at: now) } }
    func lostConsumer() -> Bool { state.withLock { $0.activity.lost() } }
    func passed(to now: UInt64) -> Bool { state.withLock { $0.activity.passed(to: now) } }

    func heard(_ message: HeartbeatMessage, at now: UInt64) {
        state.withLock { state in
            state.cluster.heard(message, at: now)
            state.figures.heard(message, at: now)
            state.processes.heard(message, at: now)
            state.clocks.heard(message.worker, saying: message.at, isStaying: message.isStaying, at: now)
        }
    }
    func heard(_ message: GatewayFigures, at now: UInt64) {
        state.withLock { state in
            state.figures.heard(message, at: now)
            state.processes.heard(message, at: now)
            state.clocks.heard(message.gateway, saying: message.at, isStaying: message.isStaying, at: now)
        }
    }
    func heard(_ message: CoordinatorFigures, at now: UInt64) {
        state.withLock { $0.processes.heard(message, at: now) }
    }
    func processes(at now: UInt64) -> [ProcessDocument] { state.withLock { $0.processes.list(at: now) } }
    func clockOffsets(at now: UInt64) -> [[String]: Double] { state.withLock { $0.clocks.seconds(at: now) } }
    func ready(_ count: Int, in slice: SliceNumber) { state.withLock { $0.ready[slice] = count } }
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

// MARK: - The picture

extension CoordinatorState {
    var history: ClusterHistory { state.withLock { $0.history } }
    var lastPoint: HistoryPoint? { state.withLock { $0.history.points.last } }
    func gateways(at now: UInt64) -> Int { state.withLock { $0.figures.gateways(at: now) } }
    func unacknowledgedBytes(of app: String, at now: UInt64) -> UInt64 {
        state.withLock { $0.figures.unacknowledgedBytes(of: app, at: now) }
    }

    func traffic(of app: String, at now: UInt64) -> AppTrafficDocument? {
        state.withLock { $0.figures.traffic(of: app, at: now) }
    }

    /// The slices as heartbeats, the broker and the last minutes tell.
    func slicePictures(_ count: SliceCount, at now: UInt64) -> [SliceDocument] {
        state.withLock { Self.slicePictures($0, count, at: now) }
    }

    /// Takes down how the cluster stands, if it is time to.
    func keepHistory(of count: SliceCount, at now: UInt64) {
        state.withLock { state in
            state.history.look(at: Self.slicePictures(state, count, at: now), now: now)
            guard state.history.isDue(at: now) else { return }
            state.history.add(state.figures.take(at: now), Self.slicePictures(state, count, at: now), at: now)
        }
    }

    private static func slicePictures(_ state: State, _ count: SliceCount, at now: UInt64) -> [SliceDocument] {
        state.cluster.slices(count, at: now).map { document in
            var slice = document
            slice.ready = state.ready[slice.slice]
            slice.inPerSecond = state.history.inPerSecond(of: slice.slice)
            return slice
        }
    }
}
