import Query
import Synchronization

/// A budget of steps for finding the sessions that commits concern: so many at once, and they come back with time.
final class EvaluationAllowance: Sendable {
    private struct State {
        var rest: Int
        var at: UInt64
    }

    private let most: Int
    private let perMillisecond: Int
    private let state: Mutex<State>

    /// - Parameter times: for how many realms it is.
    init(_ limits: EvaluationLimits, times: Int = 1) {
        most = limits.stepsPerRealm * times
        perMillisecond = limits.stepsPerRealmAndMillisecond * times
        state = Mutex(State(rest: most, at: 0))
    }

    /// - Parameter now: in milliseconds; a time that was put back brings nothing.
    func rest(at now: UInt64) -> Int {
        state.withLock { state in
            let elapsed = Int(clamping: now > state.at ? now - state.at : 0)
            state.at = max(now, state.at)
            let (back, overflows) = elapsed.multipliedReportingOverflow(by: perMillisecond)
            state.rest =
                overflows
                ? most : min(most, state.rest.addingReportingOverflow(back).overflow ? most : state.rest + back)
            return max(0, state.rest)
        }
    }

    func take(_ steps: Int) {
        guard steps > 0 else { return }
        state.withLock { $0.rest = max($0.rest - steps, -most) }
    }
}
