import Hummingbird
import Synchronization

/// Has answers to requests that fail wait a little, once an address, or all clients of an app, have had many: whoever tries
/// passwords, tokens or nonsense one after another gets no further than that, and takes no time from those who work. A request that
/// succeeds never waits.
final class FailureBrake: Sendable {
    private let delay: Duration
    private let ofAddress: RateLimiter
    private let ofApp: RateLimiter
    private let waiting = Mutex(0)
    private let metrics: GatewayMetrics

    /// Answers that wait at once; further ones go out.
    private static let maxWaiting = 2_000

    /// - Parameter delay: how long an answer waits; zero: none does.
    init(delay: Duration, clock: GatewayClock, metrics: GatewayMetrics) {
        self.delay = delay
        self.metrics = metrics
        ofAddress = RateLimiter(rate: .init(burst: 20, perMinute: 120), clock: clock)
        ofApp = RateLimiter(rate: .init(burst: 500, perMinute: 3_000), clock: clock)
    }

    /// How many answers wait now.
    var waitingAnswers: Int { waiting.withLock { $0 } }

    /// Notes a failed request, and waits if there were many.
    func failed(from address: ClientAddress, app: String?) async {
        guard delay > .zero else { return }
        let isManyOfAddress = ofAddress.retryAfter(address.network) != nil
        let isManyOfApp = app.map { ofApp.retryAfter($0) != nil } ?? false
        guard isManyOfAddress || isManyOfApp else { return }
        let mayWait = waiting.withLock { waiting in
            guard waiting < Self.maxWaiting else { return false }
            waiting += 1
            return true
        }
        guard mayWait else { return }
        metrics.failureDelayed()
        try? await Task.sleep(for: delay)
        waiting.withLock { $0 -= 1 }
    }
}

/// Puts the brake on what fails, whatever the reason.
struct FailureBrakeMiddleware: RouterMiddleware {
    typealias Context = GatewayRequestContext

    let brake: FailureBrake

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            let response = try await next(request, context)
            if response.status.code >= 400 { await wait(context) }
            return response
        } catch {
            await wait(context)
            throw error
        }
    }

    private func wait(_ context: Context) async {
        await brake.failed(from: context.address, app: context.parameters.get("app"))
    }
}
