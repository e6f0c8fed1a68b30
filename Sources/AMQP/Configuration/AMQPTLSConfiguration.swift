import CRabbitMQ

/// The certificates of an encrypted connection, and what is verified of the broker's.
public struct AMQPTLSConfiguration: Sendable, Hashable {
    /// A PEM file of the authorities that may have signed the broker's certificate; nil takes the system's.
    public var authoritiesFile: String?

    /// A PEM file with this client's certificate chain, for brokers that ask for one.
    public var certificateFile: String?

    /// The PEM file of the key of `certificateFile`.
    public var keyFile: String?

    /// Whether the broker's certificate must be signed by a known authority.
    public var verifiesPeer: Bool

    /// Whether the broker's certificate must name the host that was dialled.
    public var verifiesHostname: Bool

    /// Verifies the broker against the system's authorities unless told otherwise.
    public init(
        authoritiesFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil,
        verifiesPeer: Bool = true, verifiesHostname: Bool = true
    ) {
        self.authoritiesFile = authoritiesFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.verifiesPeer = verifiesPeer
        self.verifiesHostname = verifiesHostname
    }

    /// Where Linux distributions keep the system's authorities.
    static let systemAuthoritiesFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]
}

extension AMQPTLSConfiguration {
    /// What an operator should check after a handshake that failed with a status of the library.
    func advice(after status: Int32) -> String? {
        switch status {
        case AMQP_STATUS_SSL_PEER_VERIFY_FAILED.rawValue, AMQP_STATUS_SSL_CONNECTION_FAILED.rawValue:
            let authorities = authoritiesFile ?? "the system's authorities"
            return "expected a certificate signed by one of \(authorities); name the broker's authority in cacertfile"
        case AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED.rawValue:
            return "expected the host's name in the broker's certificate; dial a name that it holds, not an address"
        default:
            return nil
        }
    }

    /// What an operator should check after a login that broke off: with TLS 1.3 a client learns only then that its
    /// certificate was refused.
    var adviceForLogIn: String {
        certificateFile == nil
            ? "if the broker demands a client's certificate, name one in certfile and keyfile"
            : "if the broker demands a client's certificate, expected it to know the authority of \(certificateFile ?? "")"
    }
}

extension AMQPError {
    /// The same error with what to do next.
    func advising(_ advice: String?) -> AMQPError {
        guard let advice else { return self }
        var error = self
        error.message += "; \(advice)"
        return error
    }
}
