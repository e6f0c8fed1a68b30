#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An IPv4 or IPv6 address. An IPv4 address that is written as an IPv6 one is the IPv4 address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16, in network order.
    package let bytes: [UInt8]

    /// - Parameter text: without port and brackets; a zone (`%eth0`) is left out.
    package init?(_ text: some StringProtocol) {
        let text = String(text.prefix { $0 != "%" })
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 {
            self.init(bytes: four)
            return
        }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        self.init(bytes: sixteen)
    }

    /// - Parameter bytes: 4 or 16, in network order.
    package init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16: self.bytes = bytes.starts(with: Self.mappedPrefix) ? Array(bytes.suffix(4)) : bytes
        default: return nil
        }
    }

    /// `::ffff:0:0/96`.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    package var description: String {
        guard bytes.count == 16 else { return bytes.map(String.init).joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The network that one customer of a provider has: the IPv4 address, or the /64 of the IPv6 address.
    package var network: String {
        guard bytes.count == 16, let network = IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8))
        else { return description }
        return "\(network)/64"
    }
}
