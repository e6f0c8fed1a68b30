import CEpoll
import Foundation
import LocalCluster
import Synchronization

/// A relay to a loopback port that holds every byte back for a while, in both directions: the way to a server on another machine.
/// It has a thread of its own, and as many bytes go through at once as are sent.
final class DelayRelay: Sendable {
    let port: Int
    private let isStopped = Atomic(false)

    /// - Throws: `BenchFailure` if no port can be listened on.
    init(to target: Int, delay: Duration) throws {
        port = FreePort.next()
        let listener = try Self.listen(on: port)
        let nanoseconds = Int64(delay / .nanoseconds(1))
        let thread = Thread { [self] in
            var loop = RelayLoop(listener: listener, target: target, delay: nanoseconds)
            while !isStopped.load(ordering: .relaxed) { loop.turn() }
            loop.end()
        }
        thread.name = "relay"
        thread.start()
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    private static func listen(on port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, Glibc.listen(descriptor, 64) == 0 else {
            close(descriptor)
            throw BenchFailure("the relay cannot listen on port \(port): \(String(cString: strerror(errno)))")
        }
        return descriptor
    }
}

/// The relay's connections, on its thread.
private struct RelayLoop {
    /// Bytes that go one way.
    private struct Flow {
        /// Not more is held back than a network would have on its way.
        static let maxBytes = 16 << 20

        var source: Int32
        var sink: Int32
        var chunks: [(due: Int64, bytes: [UInt8])] = []
        /// The bytes of the first chunk that have gone already.
        var sent = 0
        var held = 0
        /// The sink takes no more for now.
        var isBlocked = false
        var hasEnded = false

        /// Takes what has come.
        mutating func take(_ scratch: inout [UInt8], due: Int64) {
            while held < Self.maxBytes {
                let count = read(source, &scratch, scratch.count)
                if count < 0, errno == EAGAIN || errno == EINTR { return }
                guard count > 0 else {
                    hasEnded = true
                    return
                }
                chunks.append((due, Array(scratch[..<count])))
                held += count
                if count < scratch.count { return }
            }
        }

        /// Passes on what is due.
        mutating func give(at now: Int64) {
            isBlocked = false
            while let first = chunks.first, first.due <= now {
                let count = first.bytes[sent...].withUnsafeBytes {
                    Glibc.send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                if count < 0 {
                    isBlocked = errno == EAGAIN || errno == EINTR
                    hasEnded = hasEnded || !isBlocked
                    return
                }
                sent += count
                held -= count
                guard sent == first.bytes.count else { continue }
                chunks.removeFirst()
                sent = 0
            }
        }
    }

    private struct Link {
        var there: Flow
        var back: Flow
        var hasEnded: Bool { there.hasEnded || back.hasEnded }
    }

    let listener: Int32
    let target: Int
    let delay: Int64
    /// Tells the time within microseconds; `poll` itself counts in milliseconds.
    private let timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK))
    private var links: [Link] = []
    private var scratch = [UInt8](repeating: 0, count: 1 << 17)

    init(listener: Int32, target: Int, delay: Int64) {
        self.listener = listener
        self.target = target
        self.delay = delay
    }

    /// Waits for bytes, or until some are due, for a tenth of a second at most.
    mutating func turn() {
        var descriptors = [listener, timer].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var wake = MonotonicTime.now + 100_000_000
        for link in links {
            for (flow, other) in [(link.there, link.back), (link.back, link.there)] {
                let reads = flow.held < Flow.maxBytes ? POLLIN : 0
                descriptors.append(
                    pollfd(fd: flow.source, events: Int16(reads | (other.isBlocked ? POLLOUT : 0)), revents: 0))
                if !flow.isBlocked, let due = flow.chunks.first?.due { wake = min(wake, due) }
            }
        }
        // A time that has passed rings at once; none would be no time at all.
        let left = max(1, wake - MonotonicTime.now)
        var time = itimerspec()
        time.it_value = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
        timerfd_settime(timer, 0, &time, nil)
        poll(&descriptors, nfds_t(descriptors.count), 100)
        let now = MonotonicTime.now
        for index in links.indices {
            let ready = (descriptors[2 + 2 * index].revents, descriptors[3 + 2 * index].revents)
            if ready.0 & ~Int16(POLLOUT) != 0 { links[index].there.take(&scratch, due: now + delay) }
            if ready.1 & ~Int16(POLLOUT) != 0 { links[index].back.take(&scratch, due: now + delay) }
            links[index].there.give(at: now)
            links[index].back.give(at: now)
        }
        for link in links where link.hasEnded { close(link) }
        links.removeAll(where: \.hasEnded)
        if descriptors[0].revents != 0 { accept() }
    }

    private mutating func accept() {
        let client = Glibc.accept(listener, nil, nil)
        guard client >= 0 else { return }
        _ = fcntl(client, F_SETFL, fcntl(client, F_GETFL) | O_NONBLOCK)
        guard let server = try? Loopback.connect(port: target, blocking: false) else {
            Glibc.close(client)
            return
        }
        for descriptor in [client, server] {
            var on: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        links.append(Link(there: Flow(source: client, sink: server), back: Flow(source: server, sink: client)))
    }

    private func close(_ link: Link) {
        Glibc.close(link.there.source)
        Glibc.close(link.there.sink)
    }

    func end() {
        for link in links { close(link) }
        Glibc.close(listener)
        Glibc.close(timer)
    }
}
