/// What arbitrary bytes are fed to, by the fuzzers and by the tests that replay what they have found.
///
/// Each target must refuse an input with a typed error or keep its laws, in bounded time and memory.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// The parser of changesets: what it accepts encodes, and parses again to the same.
    case changeset
    /// Applying a changeset to a realm: an error that leaves nothing behind, or a state that can be stored and rebuilt.
    case apply
    /// Merging two sides of arbitrary changesets: the index and the exchange of roles change nothing.
    case merge
    /// Two peers' recorded edits, which the bytes choose: after the merge both hold the same.
    case converge
    /// Queries: a refusal that names a place, or a query that can be tried on any object and written again.
    case query
    /// The parser of clients' messages.
    case protocolMessage = "protocol"

    /// The longest input that is looked at, in bytes: it bounds what a run takes.
    package static let maxBytes = 4096

    package func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        guard bytes.count <= Self.maxBytes else { return }
        switch self {
        case .changeset: try ChangesetFuzz.run(bytes)
        case .apply: try ApplyFuzz.run(bytes)
        case .merge: try MergeFuzz.run(bytes)
        case .converge: try ConvergenceFuzz.run(bytes)
        case .query: try QueryFuzz.run(bytes)
        case .protocolMessage: try ProtocolFuzz.run(bytes)
        }
    }
}
