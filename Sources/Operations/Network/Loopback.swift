/// The hosts by which a machine reaches itself.
package enum Loopback {
    /// - Parameter host: a name or an address, IPv6 with brackets or without.
    package static func contains(_ host: String) -> Bool {
        if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
