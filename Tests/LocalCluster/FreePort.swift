import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A loopback port that was free a moment ago.
///
/// Some time may go by until the port is listened on, and a server that is started again listens on the port that it had. So processes side by
/// side have ranges of their own, as far as there are enough, and all lie apart from those of `Tests/broker` and `Tests/postgres`.
package enum FreePort {
    private static let count: UInt16 = 1_000
    /// The ports of this process, below what the kernel gives to outgoing connections: such a connection could take a
    /// port before the server does.
    private static let range: Range<UInt16> = {
        // Set by `Tests/run`, whose processes run side by side.
        let chosen = ProcessInfo.processInfo.environment["SLUICE_TEST_PORTS"].flatMap { Int32($0) } ?? getpid()
        let start = 20_000 + UInt16(chosen & 7) * count
        return start..<(start + count)
    }()
    private static let last = Mutex(UInt16.random(in: range))

    package static func next() -> Int {
        for _ in 0..<count {
            let candidate = last.withLock { last -> UInt16 in
                last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
                return last
            }
            if let port = bound(to: candidate) { return port }
        }
        return bound(to: 0) ?? 0
    }

    /// - Returns: the port, which for 0 is one that the kernel chose; nil if it is taken.
    private static func bound(to port: UInt16) -> Int? {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
