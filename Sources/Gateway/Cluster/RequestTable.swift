import AMQP
import Messages
import Synchronization

/// Requests that wait for an owner's answer: by correlation id, each with a deadline, a bounded number of them.
final class RequestTable: Sendable {
    struct Request: Sendable {
        var session: UInt64
        var deadline: UInt64
        var startedAt: UInt64
    }

    private let requests = Mutex<[String: Request]>([:])
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// False if too many wait already.
    func add(_ id: String, _ request: Request) -> Bool {
        requests.withLock { requests in
            guard requests.count < limit else { return false }
            requests[id] = request
            return true
        }
    }

    /// The request that `id` answers; nil if it was given up, or never made.
    func take(_ id: String) -> Request? { requests.withLock { $0.removeValue(forKey: id) } }

    func takeExpired(at now: UInt64) -> [Request] {
        requests.withLock { requests in
            let expired = requests.filter { $0.value.deadline < now }
            for id in expired.keys { requests[id] = nil }
            return Array(expired.values)
        }
    }

    func takeAll() -> [Request] {
        requests.withLock { requests in
            defer { requests = [:] }
            return Array(requests.values)
        }
    }

    var count: Int { requests.withLock { $0.count } }
}
