import Foundation

extension AMQPConfiguration {
    /// Reads `amqp://user:password@host:port/vhost?key=value`, or `amqps://` for TLS.
    ///
    /// User, password and virtual host may be percent-encoded. Everything but the scheme may be left out: the user is
    /// then `guest`, the host `localhost`, the port 5672 (5671 with TLS), the virtual host `/`. Several hosts,
    /// separated by commas, are the nodes of one cluster; the heartbeat is 10 seconds then, if `heartbeat` is left out. Keys, all times in seconds unless their unit is written out
    /// (`500ms`, `30s`): `heartbeat`, `connection_timeout` (a bare number is in milliseconds, as in RabbitMQ's own
    /// clients), `request_timeout`, `channel_max`, `frame_max` (bytes), `name`, and with TLS `cacertfile`, `certfile`,
    /// `keyfile`, `verify` (`verify_peer`, `verify_none`), `auth_mechanism` (`plain`, `external`).
    ///
    /// - Throws: `invalidArgument`, with what was expected and never with the password.
    public init(url: String) throws(AMQPError) {
        var rest = Substring(url)
        self.init()
        if rest.hasPrefix("amqp://") {
            rest = rest.dropFirst("amqp://".count)
        } else if rest.hasPrefix("amqps://") {
            rest = rest.dropFirst("amqps://".count)
            tls = AMQPTLSConfiguration()
        } else {
            throw AMQPError(.invalidArgument, "a broker's address begins with amqp:// or amqps://")
        }
        // A password with one of these in it would be taken apart, and its parts shown as a host, a port or a key.
        if let end = rest.firstIndex(where: { "/?#".contains($0) }), rest[end...].contains("@") {
            throw AMQPError(
                .invalidArgument,
                "expected no @ after the broker's host: in a user or password write / as %2F, ? as %3F, # as %23, @ as %40"
            )
        }
        if let mark = rest.firstIndex(of: "#") { rest = rest[..<mark] }
        var query: Substring = ""
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let slash = rest.firstIndex(of: "/") {
            let path = rest[rest.index(after: slash)...]
            rest = rest[..<slash]
            // RabbitMQ reads `amqp://host/` as the empty virtual host, which nobody has: `/` is what is meant.
            if !path.isEmpty { virtualHost = try Self.decoded(path, "virtual host") }
        }
        if let at = rest.lastIndex(of: "@") {
            try readCredentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        try readHosts(rest)
        // Where there is another node to go to, it pays to notice soon that one hangs.
        if endpoints.count > 1 { heartbeat = .seconds(10) }
        try readQuery(query)
    }

    private mutating func readCredentials(_ text: Substring) throws(AMQPError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let user = try Self.decoded(parts[0], "user")
        let password = parts.count > 1 ? try Self.decoded(parts[1], "password") : ""
        credentials = .plain(user: user, password: password)
    }

    private mutating func readHosts(_ text: Substring) throws(AMQPError) {
        let defaultPort = tls == nil ? 5672 : 5671
        endpoints = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            var host = part
            var port: Substring?
            if part.hasPrefix("["), let end = part.firstIndex(of: "]") {
                host = part[part.index(after: part.startIndex)..<end]
                let after = part[part.index(after: end)...]
                if after.hasPrefix(":") { port = after.dropFirst() }
                guard after.isEmpty || port != nil else {
                    throw AMQPError(.invalidArgument, "expected a port after the address in brackets, as in [::1]:5672")
                }
            } else if let colon = part.lastIndex(of: ":") {
                host = part[..<colon]
                port = part[part.index(after: colon)...]
            }
            var number = defaultPort
            if let port, !port.isEmpty {
                number = try Self.number(String(port), "the port in the broker's address", in: 1...65_535)
            }
            let name = try Self.decoded(host, "host")
            endpoints.append(Endpoint(host: name.isEmpty ? "localhost" : name, port: number))
        }
    }

    private static let keysOfTLS: Set = ["cacertfile", "certfile", "keyfile", "verify", "auth_mechanism"]

    private mutating func readQuery(_ query: Substring) throws(AMQPError) {
        var external = false
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = String(parts[0])
            let value = parts.count > 1 ? try Self.decoded(parts[1], key) : ""
            switch key {
            case "heartbeat": heartbeat = try Self.duration(value, key, bareUnit: .seconds(1))
            case "connection_timeout": connectTimeout = try Self.duration(value, key, bareUnit: .milliseconds(1))
            case "request_timeout": requestTimeout = try Self.duration(value, key, bareUnit: .seconds(1))
            case "channel_max": channelMax = try Self.number(value, key, in: 0...65_535)
            case "frame_max": maxFrameBytes = try Self.number(value, key, in: 4096...(1 << 30))
            case "name": connectionName = value
            case _ where tls == nil && Self.keysOfTLS.contains(key):
                throw AMQPError(.invalidArgument, "expected amqps:// for \(key), which is about TLS")
            case "cacertfile": tls?.authoritiesFile = value
            case "certfile": tls?.certificateFile = value
            case "keyfile": tls?.keyFile = value
            case "verify":
                guard value == "verify_peer" || value == "verify_none" else {
                    throw AMQPError(.invalidArgument, "expected verify_peer or verify_none for verify")
                }
                tls?.verifiesPeer = value == "verify_peer"
                tls?.verifiesHostname = value == "verify_peer"
            case "auth_mechanism":
                guard value == "plain" || value == "external" else {
                    throw AMQPError(.invalidArgument, "expected plain or external for auth_mechanism")
                }
                external = value == "external"
            default:
                throw AMQPError(.invalidArgument, "unknown key in the broker's address: \(key.prefix(40))")
            }
        }
        if external { credentials = .external }
    }

    private static func number(
        _ text: String, _ what: String, in range: ClosedRange<Int>
    ) throws(AMQPError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw AMQPError(
                .invalidArgument, "expected a number from \(range.lowerBound) to \(range.upperBound) for \(what)")
        }
        return number
    }

    /// A time such as `30`, `30s` or `500ms`.
    private static func duration(_ text: String, _ key: String, bareUnit: Duration) throws(AMQPError) -> Duration {
        var digits = Substring(text)
        var unit = bareUnit
        if digits.hasSuffix("ms") {
            digits = digits.dropLast(2)
            unit = .milliseconds(1)
        } else if digits.hasSuffix("s") {
            digits = digits.dropLast()
            unit = .seconds(1)
        }
        guard let number = Int(digits), (0...1_000_000_000).contains(number) else {
            throw AMQPError(.invalidArgument, "expected a whole number, with ms or s after it if need be, for \(key)")
        }
        return unit * number
    }

    /// Undoes percent-encoding; the text itself stays out of the error, because it may be the password.
    private static func decoded(_ text: Substring, _ what: String) throws(AMQPError) -> String {
        guard let result = text.removingPercentEncoding else {
            throw AMQPError(
                .invalidArgument, "expected two hexadecimal digits after each % in the \(what), and UTF-8")
        }
        return result
    }
}
