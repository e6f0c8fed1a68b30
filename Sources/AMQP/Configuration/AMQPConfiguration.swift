/// The broker's addresses, the login, and how a connection behaves.
///
/// The description of a configuration, and every error made from it, leaves the password out.
public struct AMQPConfiguration: Sendable, Hashable {
    /// One address of the broker, or of one node of its cluster.
    public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
        /// A host name or address.
        public var host: String
        /// The TCP port.
        public var port: Int

        /// An address.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// `host:port`, with brackets around an IPv6 address.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// How this client logs in.
    public enum Credentials: Sendable, Hashable {
        /// Authenticates with a user name and a password.
        case plain(user: String, password: String)
        /// Authenticates with the client's certificate (SASL EXTERNAL).
        case external
    }

    /// The addresses tried in turn at every attempt to connect; at least one.
    public var endpoints: [Endpoint]

    /// How this client logs in.
    public var credentials: Credentials

    /// The virtual host, `/` unless the address says otherwise.
    public var virtualHost: String

    /// Present when the connection is encrypted.
    public var tls: AMQPTLSConfiguration?

    /// How often either side must send something, in whole seconds (rounded up); zero turns heartbeats off. The broker may
    /// ask for a shorter interval. A broker that is silent for two intervals counts as lost.
    public var heartbeat: Duration = .seconds(30)

    /// How long one attempt to reach one endpoint, with handshake and login, may take.
    public var connectTimeout: Duration = .seconds(10)

    /// How long a declaration or another question to the broker may take, including the wait for a connection.
    public var requestTimeout: Duration = .seconds(30)

    /// The most channels to ask for; zero leaves it to the broker.
    public var channelMax = 0

    /// The largest frame to ask for, at least 4096; the broker may allow less. Bodies travel in as many frames as they
    /// need, methods and headers must fit one.
    public var maxFrameBytes = 131_072

    /// The name that the broker's tools show for this connection.
    public var connectionName: String?

    /// The waits between attempts to reconnect.
    public var reconnect = ReconnectPolicy()

    /// How many publishes of one channel may await their confirms. Further publishes wait until some are confirmed.
    public var maxOutstandingConfirms = 1_000

    /// The largest body to publish; a larger one fails alone. A broker closes the channel for a message that is too large for
    /// it, with all that is under way there: RabbitMQ takes 16 MiB from version 4 on, if not told otherwise.
    public var maxPublishBytes = 16 << 20

    /// The largest message accepted from the broker; a larger one closes the connection as a protocol error.
    public var maxMessageBytes = 128 << 20

    /// A configuration for one or more addresses of a broker, everything else at its default.
    public init(
        endpoints: [Endpoint] = [Endpoint(host: "localhost", port: 5672)],
        credentials: Credentials = .plain(user: "guest", password: "guest"), virtualHost: String = "/",
        tls: AMQPTLSConfiguration? = nil
    ) {
        self.endpoints = endpoints
        self.credentials = credentials
        self.virtualHost = virtualHost
        self.tls = tls
    }
}

extension AMQPConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address with the user but without the password: `amqp://user@host:port/vhost`.
    public var description: String {
        let scheme = tls == nil ? "amqp" : "amqps"
        let user =
            switch credentials {
            case .plain(let user, _): "\(user)@"
            case .external: ""
            }
        return "\(scheme)://\(user)\(endpoints.map(\.description).joined(separator: ","))/\(virtualHost)"
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Hides the stored properties, among them the password, from `dump` and string interpolation.
    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}

extension AMQPConfiguration.Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user, never the password.
    public var description: String {
        switch self {
        case .plain(let user, _): "plain(\(user))"
        case .external: "external"
        }
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Hides the password from `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["kind": description]) }
}
