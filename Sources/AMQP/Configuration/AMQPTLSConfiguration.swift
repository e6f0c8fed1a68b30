/// How an encrypted connection proves who is at either end.
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
