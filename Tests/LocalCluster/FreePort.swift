import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A loopback port that was free a moment ago.
package enum FreePort {
    /// Below what the kernel gives to outgoing connections: one of those could take it before the server does.
    private static let last = Mutex(UInt16.random(in: 20_000..<32_000))

    package static func next() -> Int {
        for _ in 0..<1000 {
            let candidate = last.withLock { last -> UInt16 in
                last = last < 31_999 ? last + 1 : 20_000
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
