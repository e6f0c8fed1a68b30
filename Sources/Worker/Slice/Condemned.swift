import AMQP
import Logging
import Messages
import Storage
import SyncModel

/// The messages of a batch that cannot be dealt with for a reason of ours, and the reasons.
struct Condemned {
    private(set) var reasons: [Int: String] = [:]
    private var damagedRealms: Set<RealmName> = []

    /// The message stays what it is, and the batch is gone through again without it.
    ///
    /// The first that finds its realm damaged is condemned alone: it may be the only one that touches what is damaged. The
    /// second takes with it all that come after it for the same realm. So a batch is gone through at most twice more for each
    /// damaged realm, however many messages are about it.
    mutating func add(_ index: Int, of messages: [AMQPMessage], _ error: any Error) {
        let reason = "\(error)"
        reasons[index] = reason
        guard Self.isDamage(error), let realm = messages[index].realm, !damagedRealms.insert(realm).inserted else {
            return
        }
        for later in messages.indices.dropFirst(index + 1) where reasons[later] == nil && messages[later].realm == realm
        {
            reasons[later] = reason
        }
    }

    /// Whether what is stored cannot be read.
    static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let error as StoreError: error.code == .corrupt
        case let error as WorkerError: error.code == .corrupt
        default: false
        }
    }
}

extension AMQPMessage {
    /// The one realm that the message is about; nil also if it cannot be read.
    fileprivate var realm: RealmName? {
        guard let type = try? Envelope(of: self).type else { return nil }
        return switch type {
        case ChangesetMessage.type: (try? decode(ChangesetMessage.self))?.realm
        case UnbindNotice.type: (try? decode(UnbindNotice.self))?.realm
        case ResetMessage.type: (try? decode(ResetMessage.self))?.realm
        default: requestContext?.realm
        }
    }

    /// Of a request that somebody waits for the answer to.
    fileprivate var requestContext: RequestContext? {
        guard let type = try? Envelope(of: self).type else { return nil }
        return switch type {
        case BindRequest.type: (try? decode(BindRequest.self))?.context
        case IdentifyRequest.type: (try? decode(IdentifyRequest.self))?.context
        case PageRequest.type: (try? decode(PageRequest.self))?.context
        default: nil
        }
    }
}

extension SliceOwner {
    /// Does for a condemned message what can be done.
    ///
    /// What its sender would only send again, for as long as the damage lasts, is not kept: the queue of the dead letters would
    /// grow without end. A client is told to come back much later; the next tick, or the next session's end, says the same.
    func giveUp(_ message: AMQPMessage, reason: String) async throws {
        if let context = message.requestContext {
            complain(of: message, context.realm, reason)
            return try await answer(context, message) {
                try self.refuse(context.realm, context.session, .damaged(context.realm), to: $0)
            }
        }
        switch try? Envelope(of: message).type {
        case UnbindNotice.type, TickMessage.type: complain(of: message, message.realm, reason)
        case ChangesetMessage.type:
            guard let changesets = try? message.decode(ChangesetMessage.self), let upload = changesets.upload else {
                return try setAside(message, reason: reason, app: message.realm?.app)
            }
            // Its client keeps what it has not been acknowledged.
            complain(of: message, changesets.realm, reason)
            try refuse(changesets.realm, upload.session, .damaged(changesets.realm))
        default: try setAside(message, reason: reason, app: message.realm?.app)
        }
    }

    private func complain(of message: AMQPMessage, _ realm: RealmName?, _ reason: String) {
        logger.error(
            "message given up: what is stored cannot be read",
            metadata: [
                "type": "\(message.properties.type ?? "")", "app": "\(realm?.app ?? "")",
                "realm": "\(realm?.partition ?? "")", "reason": "\(reason)",
            ])
    }
}
