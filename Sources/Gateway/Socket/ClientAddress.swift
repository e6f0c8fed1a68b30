import Operations

/// Where a request comes from, as far as trusted proxies can tell.
struct ClientAddress: Sendable, Hashable, CustomStringConvertible {
    /// Nil if the socket is none of the internet's.
    let ip: IPAddress?

    /// The address of whoever the socket belongs to that the task serves.
    @TaskLocal static var socketPeer: IPAddress?

    /// Entries of `X-Forwarded-For` that are looked at: proxies in a row.
    private static let maxProxies = 16

    init(_ ip: IPAddress?) { self.ip = ip }

    /// The socket's peer; if that is a trusted proxy, the last one that the proxies name and that is no trusted proxy
    /// itself. What stands before it, the client may have written.
    ///
    /// - Parameter forwardedFor: the values of all `X-Forwarded-For` fields, in their order.
    init(peer: IPAddress?, forwardedFor: [String], trusting trusted: AddressRanges) {
        var client = peer
        let named = forwardedFor.flatMap { $0.split(separator: ",") }.suffix(Self.maxProxies).reversed()
        for entry in named {
            guard let current = client, trusted.contains(current), let before = Self.address(entry) else { break }
            client = before
        }
        ip = client
    }

    /// What limits count by.
    var network: String { ip?.network ?? "local" }
    var description: String { ip?.description ?? "local" }

    /// `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`.
    private static func address(_ entry: Substring) -> IPAddress? {
        let text = entry.filter { $0 != " " && $0 != "\t" && $0 != "\"" }
        if text.first == "[" { return IPAddress(text.dropFirst().prefix { $0 != "]" }) }
        return IPAddress(text) ?? IPAddress(text.prefix { $0 != ":" })
    }
}
