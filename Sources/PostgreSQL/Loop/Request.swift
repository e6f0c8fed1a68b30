import Loops

/// A pipeline on its way: what is sent at once, and whoever waits for the answer.
struct Request: Sendable {
    typealias Answer = Result<PostgresAnswer, PostgresError>

    let id: UInt64
    let statements: [PostgresPipeline.Statement]
    /// Sent before the statements, to begin a transaction; nil if there is none, or it has begun.
    let begin: String?
    /// Sent after them, to end it.
    let end: String?
    /// Nothing else is on the connection until it is released.
    let lease: UInt64?
    /// May be sent again, on another connection, when this one is lost.
    let isRepeatable: Bool
    /// A connection must be there until then.
    let patience: Monotonic
    /// A connection must be there until then while the server is known to be away.
    let hurry: Monotonic
    /// How long the answer may take; nil: as long as any.
    let limit: Duration?
    /// Nil for what the client's thread itself asks for.
    let continuation: CheckedContinuation<Answer, Never>?

    /// Whether changes may have been made when the connection is lost before the answer has come.
    var commits: Bool { end == Self.commit }

    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"
    /// The statement that has the server forget its prepared statements. Sent by itself: in one pipeline with a
    /// transaction it would count as the first query of that.
    static let deallocate = "DEALLOCATE ALL"
}

/// The wish for a connection that nobody else uses.
struct Lease: Sendable {
    let id: UInt64
    let patience: Monotonic
    let hurry: Monotonic
    let continuation: CheckedContinuation<Result<Void, PostgresError>, Never>
}
