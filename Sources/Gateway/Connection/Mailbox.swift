import Messages
import Synchronization

/// What the cluster says to the sessions of one connection, in order, until the connection gets to it.
///
/// Answers are bounded by the requests they answer. Notices come unasked: beyond a bound in bytes they are dropped, and
/// the session is told once that it missed some, which makes it ask for the page.
final class Mailbox: Sendable {
    enum Letter: Sendable {
        case event(ClusterEvent, number: UInt64)
        case settings(app: String)
        case tick
        case drained
        case close(code: UInt16, reason: String)
        case shutdown
        case hangUp
    }

    private struct State {
        var bytes = 0
        var missed: Set<UInt64> = []
    }

    let letters: AsyncStream<Letter>
    private let continuation: AsyncStream<Letter>.Continuation
    private let state = Mutex(State())
    private let limit: Int
    private let metrics: GatewayMetrics

    init(limit: Int, metrics: GatewayMetrics) {
        self.limit = limit
        self.metrics = metrics
        // Unbounded, because the bound is kept here in bytes; everything else in it is bounded by what it answers.
        (letters, continuation) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    func post(_ letter: Letter) {
        guard case .event(.fanned(let notice), let number) = letter else {
            continuation.yield(letter)
            return
        }
        let size = notice.bytes
        enum Choice { case take, miss, drop }
        let choice: Choice = state.withLock { state in
            if state.bytes + size <= limit {
                state.bytes += size
                return .take
            }
            return state.missed.insert(number).inserted ? .miss : .drop
        }
        switch choice {
        case .take: continuation.yield(letter)
        case .miss:
            metrics.missedNotice()
            continuation.yield(.event(.missed, number: number))
        case .drop: break
        }
    }

    /// To be called with every letter taken out, before it is acted on.
    func taken(_ letter: Letter) {
        switch letter {
        case .event(.fanned(let notice), _): state.withLock { $0.bytes -= notice.bytes }
        case .event(.missed, let number): state.withLock { _ = $0.missed.remove(number) }
        default: break
        }
    }

    func finish() { continuation.finish() }
}
