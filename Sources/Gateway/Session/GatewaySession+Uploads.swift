import Messages
import SyncModel
import SyncProtocol

// UPLOADs on their way to the owner.
extension GatewaySession {
    /// - Parameter isLast: the session ends: what cannot be published now would be lost anyway.
    mutating func publish(_ upload: Upload, bytes: Int, isLast: Bool = false) {
        guard let clientFile else { return }
        let message = ChangesetMessage(
            realm: context.realm,
            upload: ChangesetMessage.Upload(
                session: context.reference, clientFile: clientFile.ident, generation: generation,
                follows: uploads.follows, progress: upload.progress,
                lockedServerVersion: upload.lockedServerVersion, rights: rights),
            entries: upload.entries)
        let number = uploads.add(message, bytes: bytes, at: environment.now)
        // Without the broker the message waits for `linkUp`.
        if environment.isLinkUp || isLast { actions.append(.publish(message, number: number)) }
    }

    /// A lost connection says nothing about the message: all that is unconfirmed is published again when the broker is
    /// back, and the owner drops what it knows. A refusal (a full queue, no such queue) ends the session for a while, and
    /// so does a broker that is there but did not confirm in time: the client uploads again what was not acknowledged.
    mutating func publishFailed(_ number: UInt64, _ error: GatewayError) {
        guard uploads.contains(number), error.code != .brokerUnavailable,
            error.code != .unconfirmed || environment.isLinkUp
        else { return }
        failForNow("the server takes no uploads at the moment")
    }
}
