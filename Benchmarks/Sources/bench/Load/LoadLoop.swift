import CEpoll
import Foundation

/// Many clients on one thread: as little as possible is spent on making the load.
///
/// Everything here and in the clients is touched on the loop's queue only, which `run` sees to.
final class LoadLoop: @unchecked Sendable {
    private let queue = DispatchQueue(label: "load")
    private let poll = epoll_create1(0)
    private var clients: [Int32: LoadClient] = [:]
    private var scratch = [UInt8](repeating: 0, count: 1 << 18)

    deinit { close(poll) }

    /// Runs `body` on the loop's thread, where it may make clients and `serve` them.
    func run<Value: Sendable>(_ body: @escaping @Sendable (LoadLoop) throws -> Value) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try body(self) }) }
            }
        } onCancel: {
            interrupted.set()
        }
    }

    private let interrupted = Interruption()

    func connect(_ client: LoadClient, port: Int, token: String) throws {
        let descriptor = try Loopback.connect(port: port, blocking: false)
        var event = epoll_event(
            events: EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLET.rawValue, data: epoll_data_t(fd: descriptor))
        guard epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            close(descriptor)
            throw BenchFailure("a socket cannot be watched: \(String(cString: strerror(errno)))")
        }
        clients[descriptor] = client
        client.connected(descriptor, token: token)
    }

    var all: [LoadClient] { Array(clients.values) }

    func disconnectAll() {
        for client in clients.values { client.disconnect() }
        clients = [:]
    }

    /// Moves bytes until `isDone`, which is asked after every round and at least once a millisecond.
    func serve(_ what: String, upTo limit: Duration = .seconds(120), until isDone: () throws -> Bool) throws {
        let deadline = MonotonicTime.now + Int64(limit / .nanoseconds(1))
        var events = [epoll_event](repeating: epoll_event(), count: 512)
        while try !isDone() {
            guard MonotonicTime.now < deadline else { throw BenchFailure("waited \(limit) until \(what)") }
            guard !interrupted.isSet else { throw CancellationError() }
            let count = epoll_wait(poll, &events, Int32(events.count), 1)
            for index in 0..<max(0, Int(count)) {
                let descriptor = events[index].data.fd
                guard let client = clients[descriptor] else { continue }
                try client.ready(&scratch)
                if client.isClosed { clients[descriptor] = nil }
            }
        }
    }
}

/// A word of news between threads.
final class Interruption: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
}

/// Nanoseconds of the monotonic clock.
enum MonotonicTime {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }
}
