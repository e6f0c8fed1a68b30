import Changesets
import SyncModel
import SyncProtocol

/// What a client asked for when it opened its connection, after it was let in.
struct SyncUpgrade: Sendable {
    /// Names the connection in logs on both sides.
    var connectionID: String
    var app: String
    var mode: SyncMode
    /// The version that both sides speak.
    var version: ProtocolVersion
    /// The client's own build; it parses by that.
    var clientVersion: ProtocolVersion
    /// The one subprotocol that the 101 echoes.
    var subprotocol: String
    var userAgent: String
    var address: ClientAddress
    /// The app's rules for making copies, if the client says that it knows them.
    var compatibility: PeerCompatibility?
    var claims: TokenClaims?
    /// Close at once: browsers and platform sockets hide HTTP statuses from the client.
    var refusal: (code: UInt16, reason: String)?
    /// Counts it among its app's sockets.
    var seat: AppSockets.Seat
}

enum UpgradeDecision: Sendable {
    case accept(SyncUpgrade)
    case refuse(APIError)
}
