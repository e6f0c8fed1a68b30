/// A client's session at a gateway, as the messages between gateways and workers name it.
package struct SessionReference: Hashable, Sendable, Codable {
    /// The gateway's id.
    package var gateway: String
    /// Given out by the gateway, and never again while it runs.
    package var number: UInt64

    package init(gateway: String, number: UInt64) {
        self.gateway = gateway
        self.number = number
    }
}

extension SessionReference: CustomStringConvertible {
    /// The session as logs and `sluice tail` name it: `GATEWAY/NUMBER`.
    package var description: String { "\(gateway)/\(number)" }
}
