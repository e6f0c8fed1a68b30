import Glibc
import NIOCore

/// Where others reach what listens on this machine.
package enum ReachableAddress {
    /// The name of this machine.
    package static let machine: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// The URL of a listener.
    ///
    /// - Parameter host: where it listens. If that is everywhere, the machine's name stands in the URL where certificates are checked,
    ///   and else its first address that is not only its own: containers' names are often known to nobody.
    package static func url(isSecure: Bool, host: String, port: Int) -> String {
        var name = host
        if ["", "0.0.0.0", "::"].contains(host) { name = isSecure ? machine : (firstAddress ?? machine) }
        return "\(isSecure ? "https" : "http")://\(name.contains(":") ? "[\(name)]" : name):\(port)"
    }

    private static var firstAddress: String? {
        let devices = (try? System.enumerateDevices()) ?? []
        let addresses = devices.compactMap { $0.address?.ipAddress }.filter {
            !Loopback.contains($0) && !$0.hasPrefix("169.254.") && !$0.lowercased().hasPrefix("fe80:")
        }
        return addresses.first { !$0.contains(":") } ?? addresses.first
    }
}
