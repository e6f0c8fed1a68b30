package import Changesets

/// What the simulated peers agree on.
package enum SimulationRules: String, CaseIterable, Sendable {
    /// What our own peers can do: every deviation in docs/merge.md, "Where we differ", in merging, applying and
    /// recording.
    case convergent
    /// Exactly what realm-core does, its weaknesses included.
    case stock
    /// Convergent merging with the recorder and applier of stock clients, for realms that both kinds of peers share.
    case mixed

    package var merge: PeerCompatibility { self == .stock ? .stockClients : .convergent }
    package var apply: PeerCompatibility { self == .convergent ? .convergent : .stockClients }
    /// Whether a peer's timestamps never fall (docs/merge.md, "Timestamps"), whatever its clock does.
    var stampsAscend: Bool { self != .stock }
}
