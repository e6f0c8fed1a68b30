import DequeModule
import Synchronization

/// Letters from the cluster to the sessions of one connection, in order, until the connection gets to them.
///
/// Answers are bounded by the requests they answer. Notices come unasked: beyond a bound in bytes they are dropped, and
/// the session is told once that it missed some, which makes it ask for the page. Of a letter that says nothing new
/// while one like it waits, one is kept.
final class Mailbox: Sendable {
    enum Letter: Sendable {
        case event(SessionEvent, number: UInt64)
        case settings(app: String)
        case tick
        case drained
        case close(code: UInt16, reason: String)
        case shutdown
        case hangUp
    }

    private struct State {
        var letters: Deque<Letter> = []
        var bytes = 0
        var missed: Set<UInt64> = []
        var hasTick = false
        var hasDrained = false
        var hasSettings = false
        /// A task takes the letters out, or is about to.
        var isBeingRead = false
        var isFinished = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let metrics: GatewayMetrics

    init(limit: Int, metrics: GatewayMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    /// - Returns: true if no task reads the letters: the caller must start one.
    func post(_ letter: Letter) -> Bool {
        state.withLock { state in
            guard !state.isFinished, let kept = admit(letter, &state) else { return false }
            state.letters.append(kept)
            if case .event(.missed, _) = kept { metrics.missedNotice() }
            defer { state.isBeingRead = true }
            return !state.isBeingRead
        }
    }

    /// The letter to keep: this one, one that stands for it, or none.
    private func admit(_ letter: Letter, _ state: inout State) -> Letter? {
        switch letter {
        case .event(let event, let number):
            guard let bytes = event.notice?.bytes else { return letter }
            guard state.bytes + bytes <= limit else {
                return state.missed.insert(number).inserted ? .event(.missed, number: number) : nil
            }
            state.bytes += bytes
            return letter
        case .tick:
            defer { state.hasTick = true }
            return state.hasTick ? nil : letter
        case .drained:
            defer { state.hasDrained = true }
            return state.hasDrained ? nil : letter
        case .settings:
            // One letter is enough: the settings are those of the connection's one app, read when the letter is opened.
            defer { state.hasSettings = true }
            return state.hasSettings ? nil : letter
        case .close, .shutdown, .hangUp: return letter
        }
    }

    /// The next letter. After nil, which says that none waits, the next `post` returns true.
    func take() -> Letter? {
        state.withLock { state in
            guard let letter = state.letters.popFirst() else {
                state.isBeingRead = false
                // What a burst has grown is not kept.
                state.letters = []
                return nil
            }
            switch letter {
            case .event(.missed, let number): state.missed.remove(number)
            case .event(let event, _): state.bytes -= event.notice?.bytes ?? 0
            case .tick: state.hasTick = false
            case .drained: state.hasDrained = false
            case .settings: state.hasSettings = false
            case .close, .shutdown, .hangUp: break
            }
            return letter
        }
    }

    /// Takes no more letters, and throws away what waits.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            state.letters = []
        }
    }
}
