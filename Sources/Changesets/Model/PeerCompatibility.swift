/// Whose behaviour merging, recording and applying follow in the few places where the reference engine is at fault (spec:
/// merge-rules.md, section 15). Everywhere else the two are the same.
///
/// All peers of a realm have to follow the same one, so what the server and the client library follow is said here, once.
package enum PeerCompatibility: Hashable, Sendable {
    /// Exactly what realm-core does, its mistakes included: for comparing, and for pinning a run to a stock peer.
    case stockClients
    /// What the rules mean to say, so that peers that share these rules converge.
    case convergent

    /// How the server and the client library merge. For what stock clients can record, it gives their bytes.
    package static let standard = PeerCompatibility.convergent
    /// How they record and apply: as stock clients do, who mean to replace an embedded object that they assign to an
    /// occupied key (D4).
    package static let standardState = PeerCompatibility.stockClients
}
