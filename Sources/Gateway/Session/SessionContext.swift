import Messages
import SyncModel

/// The facts of a session that stay the same for as long as it lives.
struct SessionContext: Sendable {
    var realm: RealmName
    /// Unique in this gateway's life.
    var reference: SessionReference
    var user: String
    var connection: String
    var protocolVersion: Int
    var userAgent: String
    /// Whether the client is our SDK, which names the rules that it knows. A stock client is sent nothing that the protocol does
    /// not have.
    var isOurs = false
    /// The schema version in the configuration of a client in flexible mode; nil below protocol version 11.
    var schemaVersion: UInt64?
    /// The partition of a client in flexible mode that says it came from partition sync, as a realm's name has it.
    var migratedPartition: String?
    var limits: Limits

    struct Limits: Sendable {
        var pageBytes = 256 << 10
        var requestDeadline: UInt64 = 10_000
        var progressDelay: UInt64 = 2_000
        var resetDecision: UInt64 = 15_000
        /// How long a session may want a page that the broker's absence keeps it from asking for.
        var linkPatience: UInt64 = 60_000
        /// How long the cursor of a client that nothing concerns stays where it is.
        var idleProgress: UInt64 = 600_000
    }
}

/// The state of the gateway as a session is told it with every event.
struct SessionEnvironment: Sendable {
    /// Milliseconds of Unix time.
    var now: UInt64
    /// The socket takes less than it is given: bulk data waits.
    var isCongested: Bool
    /// The broker can be asked.
    var isLinkUp: Bool
    /// The socket has no other session.
    var isAlone = false
}
