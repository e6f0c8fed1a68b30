#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The datagram socket on which a service manager (systemd) hears how a service does: sd_notify(3).
struct NotifySocket: Sendable {
    /// A path, or an abstract name that begins with a zero byte.
    private let address: [UInt8]

    /// The longest address that a Unix socket has, with its last zero byte.
    private static let maxAddressBytes = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// - Parameter name: the value of `NOTIFY_SOCKET`: an absolute path, or `@` and an abstract name. Nil for anything else,
    ///   which is no service manager on this machine.
    init?(_ name: String) {
        var bytes = Array(name.utf8)
        guard bytes.count > 1, bytes.count < Self.maxAddressBytes, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): bytes.append(0)
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        address = bytes
    }

    /// Sends one message and waits for nothing; a service manager that does not listen misses it.
    ///
    /// - Returns: whether it was handed over.
    @discardableResult
    func send(_ lines: [String]) -> Bool {
        #if canImport(Darwin)
        return false
        #else
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: address) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size - Self.maxAddressBytes + address.count)
        let message = Array(lines.joined(separator: "\n").utf8)
        return withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), target, size) == message.count
            }
        }
        #endif
    }
}
