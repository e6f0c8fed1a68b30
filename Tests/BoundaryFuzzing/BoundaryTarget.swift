package import MergeConformance

/// What strangers can send to a server or a client from outside the merge engine, fed by the fuzzers and by the tests that replay
/// what these have found.
///
/// Each target must refuse an input with a typed error or keep its laws. `FuzzTarget` has those of the engine.
package enum BoundaryTarget: String, CaseIterable, Sendable {
    /// JSON, partition values and extended JSON: what is read and written is the same when it is read again.
    case json
    /// Rules documents and expressions: stored, they are the documents that were checked, and explained as they are enforced.
    case rules
    /// Rules, a subscription set and objects: which of them are in the view, in a number of steps that the input bounds.
    case views
    /// WebSocket frames: however a stream is cut, its messages are the same, and those of a client that keeps the rules come whole.
    case frames
    /// The PROXY protocol's header: a part of it is never taken for the whole.
    case proxy
    /// Bodies of AMQP messages, as workers, gateways, coordinators and operators' commands read them.
    case message
    /// Access tokens, and tokens of other services: nothing that is not signed is accepted.
    case token
    /// HTTP requests to a gateway: an answer of the documented form, or none, and the socket is let go.
    case http

    /// The longest input that is looked at, in bytes: it bounds what a run takes.
    package static let maxBytes = 8192

    package func run(_ bytes: [UInt8]) async throws(BrokenLaw) {
        guard bytes.count <= Self.maxBytes else { return }
        switch self {
        case .json: try JSONFuzz.run(bytes)
        case .rules: try RulesFuzz.run(bytes)
        case .views: try ViewFuzz.run(bytes)
        case .frames: try FrameFuzz.run(bytes)
        case .proxy: try ProxyFuzz.run(bytes)
        case .message: try MessageFuzz.run(bytes)
        case .token: try await TokenFuzz.run(bytes)
        case .http: try await HTTPFuzz.run(bytes)
        }
    }
}
