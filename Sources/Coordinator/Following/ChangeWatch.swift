import Inspection
import Messages
import Storage
import SyncModel
import Synchronization

/// Looks after a follower while it is written to: whether it is so slow that too much waits for it, and whether there is a feed at all.
final class ChangeWatch: Sendable {
    /// Why a follower is told no more.
    enum End: String, Sendable {
        case tooSlow = "too_slow"
        /// The queue was lost, and what it held.
        case interrupted
        case feedOff = "feed_off"
        case stopping

        var message: String {
            switch self {
            case .tooSlow:
                """
                more than \(ChangeTap.maxWaiting) messages, or \(ChangeTap.maxBytes >> 20) MiB of changes, waited: read faster, or make a \
                feed; go on from the last place
                """
            case .interrupted:
                "the broker was away or has lost a change, or this coordinator stood still: go on from the last place, or start anew"
            case .feedOff: "the app's change feed was turned off, or the app is gone"
            case .stopping: "the coordinator stops: go on from the last place"
            }
        }
    }

    private static let period = Duration.seconds(1)
    /// The time between two looks beyond which nobody knows what the broker has let go of.
    private static let standstill = Duration.seconds(15)
    /// Looks at the queue for each look at the app.
    private static let looksForApp = 10

    private let tap: ChangeTap
    private let context: CoordinatorContext
    private let app: String
    private let state = Mutex<(end: End?, at: ContinuousClock.Instant)>((nil, .now))

    init(_ tap: ChangeTap, _ context: CoordinatorContext, app: String) {
        self.tap = tap
        self.context = context
        self.app = app
    }

    /// Nil as long as what comes from the queue is all that was to come.
    var end: End? {
        state.withLock { state in
            if state.end == nil, ContinuousClock.now - state.at > Self.standstill || !tap.isWhole {
                state.end = .interrupted
            }
            return state.end
        }
    }

    /// Looks until the follower has to end, and gives the queue up then, whether or not anybody reads what was written.
    func run() async {
        var looks = 0
        while !Task.isCancelled, end == nil {
            let found = await look(withApp: looks % Self.looksForApp == 0)
            state.withLock { state in
                state.at = .now
                state.end = state.end ?? found
            }
            looks += 1
            if found != nil { break }
            try? await Task.sleep(for: Self.period)
        }
        if end != nil { await tap.close() }
    }

    private func look(withApp: Bool) async -> End? {
        if context.state.isStopping { return .stopping }
        guard let waiting = try? await tap.waiting(), let hasLost = try? await tap.hasLost() else {
            return .interrupted
        }
        if waiting > ChangeTap.maxWaiting || hasLost { return .tooSlow }
        guard withApp else { return nil }
        // A control store that is away says nothing of the feed.
        guard case .success(let found) = await Result(catching: { try await context.store.app(app) }) else {
            return nil
        }
        return found?.changeFeed.isOn == true ? nil : .feedOff
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
