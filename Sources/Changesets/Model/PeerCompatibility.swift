/// The behaviour that merging, recording and applying follow in the few places where the reference engine is at fault
/// (docs/merge.md, "Where we differ"). Everywhere else the two behaviours are the same.
///
/// All peers of a realm have to follow the same behaviour. How they merge is said here, once. How they record and apply
/// is a setting of the app, fixed when the app is created: server and client library both go by it. The raw values are
/// what the setting is called on the wire, in stores and by operators.
package enum PeerCompatibility: String, Hashable, Sendable, Codable, CaseIterable {
    /// Exactly what realm-core does, its mistakes included: for apps that stock clients may use, and for comparing.
    case stockClients
    /// The rules as they are meant, so that peers that share these rules converge.
    case convergent

    /// How the server and the client library merge, for every app. For what stock clients can record, it gives their
    /// bytes.
    package static let standard = PeerCompatibility.convergent
    /// How they record and apply where nothing else is said: as stock clients do, who mean to replace an embedded object
    /// that they assign to an occupied key (D4).
    package static let standardState = PeerCompatibility.stockClients
}
