import Foundation
import Synchronization

/// A proxy for HTTP, CONNECT and SOCKS 5 on this machine. Whatever the address, it connects to this machine.
final class TestProxy: Sendable {
    let port: Int
    private let listener: Int32
    private let heard = Mutex<[String]>([])
    /// What CONNECT is refused with; nil if it is not.
    let refusal = Mutex<String?>(nil)

    /// What it was asked: `CONNECT host:port`, `SOCKS host:port`, `GET url`, with what was said of the user behind it.
    var requests: [String] { heard.withLock { $0 } }

    init() {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(listener, address, length)
                _ = listen(listener, 16)
                _ = getsockname(listener, address, &length)
            }
        }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let proxy = self else { return }
                Thread.detachNewThread { proxy.serve(client) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func serve(_ client: Int32) {
        defer { close(client) }
        guard let first = Self.read(client, 1)?.first else { return }
        if first == 5 { serveSOCKS(client) } else { serveHTTP(client, first) }
    }

    private func serveHTTP(_ client: Int32, _ first: UInt8) {
        var head = [first]
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let next = Self.read(client, 1) else { return }
            head += next
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3 else { return }
        let user = lines.first { $0.lowercased().hasPrefix("proxy-authorization: ") }?.dropFirst(21) ?? ""
        heard.withLock { $0.append("\(words[0]) \(words[1]) \(user)".trimmingCharacters(in: .whitespaces)) }
        guard words[0] == "CONNECT" else {
            let text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
            return Self.write(client, Array(text.utf8))
        }
        if let refusal = refusal.withLock({ $0 }) {
            return Self.write(client, Array("HTTP/1.1 \(refusal)\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        tunnel(client, to: Int(words[1].split(separator: ":").last ?? "") ?? 0, Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    }

    private func serveSOCKS(_ client: Int32) {
        guard let count = Self.read(client, 1)?.first, Self.read(client, Int(count)) != nil else { return }
        Self.write(client, [5, 0])
        guard let head = Self.read(client, 4) else { return }
        let host: String
        switch head[3] {
        case 1: host = (Self.read(client, 4) ?? []).map { "\($0)" }.joined(separator: ".")
        case 3:
            guard let length = Self.read(client, 1)?.first else { return }
            host = String(decoding: Self.read(client, Int(length)) ?? [], as: UTF8.self)
        default: return
        }
        guard let port = Self.read(client, 2) else { return }
        let number = Int(port[0]) << 8 | Int(port[1])
        heard.withLock { $0.append("SOCKS \(host):\(number)") }
        tunnel(client, to: number, [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    }

    private func tunnel(_ client: Int32, to port: Int, _ agreement: [UInt8]) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var address = Self.address(port)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { return }
        Self.write(client, agreement)
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            Self.pass(from: server, to: client)
            isDone.signal()
        }
        Self.pass(from: client, to: server)
        isDone.wait()
    }

    private static func pass(from: Int32, to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            write(to, Array(buffer[..<count]))
        }
        shutdown(from, Int32(SHUT_RDWR))
        shutdown(to, Int32(SHUT_RDWR))
    }

    private static func read(_ socket: Int32, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var known = 0
        while known < count {
            let more = bytes.withUnsafeMutableBytes {
                recv(socket, $0.baseAddress.map { $0 + known }, count - known, 0)
            }
            guard more > 0 else { return nil }
            known += more
        }
        return bytes
    }

    private static func write(_ socket: Int32, _ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let more = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard more > 0 else { return }
            sent += more
        }
    }
}
