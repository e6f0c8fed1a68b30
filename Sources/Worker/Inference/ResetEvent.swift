import Messages
import SyncModel

/// An event in a realm's traffic that says something about a reset. Each event is about the old or the new client file of one case.
enum ResetEvent: Equatable {
    /// The old ident presented itself, or uploaded, and was told to reset.
    case refused(connection: String)
    /// A session of the same user asked for an ident and got this one.
    case boundFresh(ident: FileIdent, session: SessionReference, isSameConnection: Bool)
    /// A session of the same user and connection was bound that has an ident.
    case bound(session: SessionReference)
    /// The new ident presented itself.
    case identified(ident: FileIdent, session: SessionReference, clientVersion: ClientVersion)
    /// The new ident's changesets were integrated; by the client's clock, in milliseconds since 2015.
    case uploaded(timestamps: [SyncTimestamp])
    /// The new ident has everything and has asked to be told so.
    case marked
    /// The new ident must reset in its turn, for another campaign.
    case overtaken(campaign: String)
    /// A session of the case ended that had said its ident.
    case unbound(session: SessionReference)
    /// A session of the same user and connection ended that had not said its ident; `isOwnChoice` if the client left
    /// unasked, neither told to nor cut off.
    case left(session: SessionReference, isOwnChoice: Bool)
    case tick
}
