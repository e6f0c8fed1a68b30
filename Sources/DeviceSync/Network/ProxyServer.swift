internal import Foundation

/// A server over which an app's connections go: those of HTTP calls and of syncing. (Not upstream, where the system says it.)
public struct ProxyServer: Sendable, Hashable {
    enum Kind: Sendable, Hashable { case http, socks }

    let kind: Kind
    let host: String
    let port: Int
    let user: String?
    let password: String?

    /// A proxy that tunnels by CONNECT.
    public static func http(host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyServer {
        ProxyServer(kind: .http, host: host, port: port, user: user, password: password)
    }

    /// A proxy of SOCKS 5 without a password, which looks the names of servers up itself.
    public static func socks(host: String, port: Int = 1080) -> ProxyServer {
        ProxyServer(kind: .socks, host: host, port: port, user: nil, password: nil)
    }

    private init(kind: Kind, host: String, port: Int, user: String?, password: String?) {
        (self.kind, self.host, self.port, self.user, self.password) = (kind, host, port, user, password)
    }

    /// The proxy of a variable: `http://user:password@host:port`, `socks5://host:port`, or `host:port` alone.
    /// - Returns: nil for anything else.
    init?(text: String) {
        guard let url = URLComponents(string: text.contains("://") ? text : "http://" + text), let host = url.host,
            !host.isEmpty
        else { return nil }
        switch url.scheme?.lowercased() {
        case "http":
            self = .http(host: host.withoutBrackets, port: url.port ?? 80, user: url.user, password: url.password)
        case "socks", "socks5", "socks5h": self = .socks(host: host.withoutBrackets, port: url.port ?? 1080)
        default: return nil
        }
    }

    /// The proxy that the environment names for an address; nil if there is none, or if the server is on this machine.
    ///
    /// - Parameter url: of HTTP or of a WebSocket.
    static func named(by environment: [String: String], for url: String) -> ProxyServer? {
        guard let target = URLComponents(string: url), let host = target.host?.withoutBrackets.lowercased(),
            !isExcluded(host, target.port, environment)
        else { return nil }
        let isSecure = target.scheme == "https" || target.scheme == "wss"
        // HTTP_PROXY is left alone, as everywhere: a web server that runs programs sets it to what a request's header says.
        let names = (isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        return names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }.flatMap { ProxyServer(text: $0) }
    }

    private static func isExcluded(_ host: String, _ port: Int?, _ environment: [String: String]) -> Bool {
        if host == "localhost" || host == "::1" || host.hasPrefix("127.") { return true }
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        return list.split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
            if entry == "*" { return true }
            var name = entry.lowercased()
            if let port, name.hasSuffix(":\(port)") { name.removeLast("\(port)".count + 1) }
            while name.hasPrefix("*") || name.hasPrefix(".") { name.removeFirst() }
            return host == name || host.hasSuffix("." + name)
        }
    }

    /// What the proxy is told of who asks; nil if it is not told.
    var authorization: String? {
        user.map { "Basic " + Data("\($0):\(password ?? "")".utf8).base64EncodedString() }
    }
}

extension String {
    /// An address of IPv6 as it stands outside of URLs.
    fileprivate var withoutBrackets: String { hasPrefix("[") ? String(dropFirst().dropLast()) : self }
}
