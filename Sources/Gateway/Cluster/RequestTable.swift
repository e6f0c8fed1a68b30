import Synchronization

/// Requests that wait for an owner's answer: by correlation id, each with a deadline, a bounded number of them.
///
/// One app may hold half of them at most: if its owners do not answer, there is still room for the other apps.
final class RequestTable: Sendable {
    struct Request: Sendable {
        var app: String
        var session: UInt64
        var deadline: UInt64
        var startedAt: UInt64
    }

    private struct State {
        var requests: [String: Request] = [:]
        var apps: [String: Int] = [:]

        mutating func take(_ id: String) -> Request? {
            guard let request = requests.removeValue(forKey: id) else { return nil }
            let rest = apps[request.app, default: 0] - 1
            apps[request.app] = rest > 0 ? rest : nil
            return request
        }
    }

    private let state = Mutex(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// False if too many wait already.
    func add(_ id: String, _ request: Request) -> Bool {
        state.withLock { state in
            let own = state.apps[request.app, default: 0]
            guard state.requests.count < limit, own < max(1, limit / 2) else { return false }
            state.requests[id] = request
            state.apps[request.app] = own + 1
            return true
        }
    }

    /// The request that `id` answers; nil if it was given up, or never made.
    func take(_ id: String) -> Request? { state.withLock { $0.take(id) } }

    func takeExpired(at now: UInt64) -> [Request] {
        state.withLock { state in
            state.requests.filter { $0.value.deadline < now }.keys.compactMap { state.take($0) }
        }
    }

    func takeAll() -> [Request] {
        state.withLock { state in
            defer { state = State() }
            return Array(state.requests.values)
        }
    }

    var count: Int { state.withLock { $0.requests.count } }
}
