import Glibc
import Synchronization

/// Stands between a client and the broker, on loopback, and misbehaves on request. One thread, few connections.
final class FaultyProxy: Sendable {
    private struct State {
        var frozen = false
        var toClient: [UInt8] = []
        var cut = false
        var closing = false
        /// Grows with every turn of the serving thread.
        var turn: UInt64 = 0
    }

    let port: Int
    private let listener: Int32
    private let brokerPort: Int
    private let state = Mutex(State())

    init(brokerPort: Int) throws {
        self.brokerPort = brokerPort
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard bound else { throw ProxyError() }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    struct ProxyError: Error {}

    /// Serves until `stop`, off the cooperative pool.
    func start() {
        let proxy = Unmanaged.passRetained(self)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<FaultyProxy>.fromOpaque(argument).takeRetainedValue().serve() }
                return nil
            }, proxy.toOpaque())
        pthread_detach(thread)
    }

    /// Passes nothing on any more, in either direction, as a cable that was cut. Returns once that is so.
    func freeze() async throws {
        let turn = state.withLock { state in
            state.frozen = true
            return state.turn
        }
        while state.withLock({ $0.turn }) == turn { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Passes on again what was held back and what comes.
    func thaw() { state.withLock { $0.frozen = false } }

    /// Closes what is open, without passing on what is on its way.
    func cut() { state.withLock { $0.cut = true } }

    /// Sends these bytes to the client in between what the broker sends.
    func inject(_ bytes: [UInt8]) { state.withLock { $0.toClient += bytes } }

    func stop() { state.withLock { $0.closing = true } }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }

    private func serve() {
        var pairs: [(client: Int32, broker: Int32)] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let (frozen, injected, cut, closing) = state.withLock { state in
                defer {
                    state.toClient = []
                    state.cut = false
                    state.turn += 1
                }
                return (state.frozen, state.toClient, state.cut, state.closing)
            }
            if closing { break }
            if cut {
                for pair in pairs {
                    close(pair.client)
                    close(pair.broker)
                }
                pairs = []
            }
            var watched = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            if !frozen {
                for pair in pairs {
                    watched.append(pollfd(fd: pair.client, events: Int16(POLLIN), revents: 0))
                    watched.append(pollfd(fd: pair.broker, events: Int16(POLLIN), revents: 0))
                }
            }
            if !injected.isEmpty, let last = pairs.last {
                send(last.client, injected, injected.count, Int32(MSG_NOSIGNAL))
            }
            guard poll(&watched, nfds_t(watched.count), 10) > 0 else { continue }
            if watched[0].revents != 0 { accept(into: &pairs) }
            var index = 1
            while index + 1 < watched.count {
                let (client, broker) = (watched[index], watched[index + 1])
                let alive =
                    (client.revents == 0 || forward(client.fd, broker.fd, &buffer))
                    && (broker.revents == 0 || forward(broker.fd, client.fd, &buffer))
                if !alive {
                    close(client.fd)
                    close(broker.fd)
                    pairs.removeAll { $0.client == client.fd }
                }
                index += 2
            }
        }
        for pair in pairs {
            close(pair.client)
            close(pair.broker)
        }
        close(listener)
    }

    private func accept(into pairs: inout [(client: Int32, broker: Int32)]) {
        let client = Glibc.accept(listener, nil, nil)
        let broker = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port: brokerPort)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(broker, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        pairs.append((client, broker))
    }

    private func forward(_ from: Int32, _ to: Int32, _ buffer: inout [UInt8]) -> Bool {
        let count = recv(from, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        var sent = 0
        while sent < count {
            let result = buffer.withUnsafeBytes { bytes in
                send(to, bytes.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
            }
            guard result > 0 else { return false }
            sent += result
        }
        return true
    }
}
