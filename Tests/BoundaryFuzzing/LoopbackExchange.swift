import Dispatch
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a server on this machine answers to bytes that are sent at once and whole.
struct LoopbackExchange: Sendable {
    var answer: [UInt8]
    /// Whether the server has closed the connection, before it was waited for no longer.
    var isClosed: Bool

    /// Shorter than the 75 seconds after which a gateway lets an idle socket go, and longer than all of its other deadlines that do
    /// not concern waiting for more bytes, even where a thousand tests in the same process share two cores.
    private static let patience = 60
    private static let queue = DispatchQueue(label: "sluice.fuzz.socket", attributes: .concurrent)

    /// Nil if there is no connection: a machine has so many ports.
    static func run(_ request: [UInt8], port: Int) async -> LoopbackExchange? {
        await withCheckedContinuation { done in
            queue.async { done.resume(returning: exchange(request, port)) }
        }
    }

    private static func exchange(_ request: [UInt8], _ port: Int) -> LoopbackExchange? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        var deadline = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        // The server may have refused it before its end.
        _ = request.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        shutdown(descriptor, Int32(SHUT_WR))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else {
                return LoopbackExchange(answer: answer, isClosed: count == 0 || errno == ECONNRESET)
            }
            answer += buffer.prefix(count)
        }
    }
}
