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
    mutating func add(_ index: Int, of messages: [SliceDelivery], _ error: any Error) {
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

extension SliceOwner {
    /// Does for a condemned message what can be done.
    ///
    /// What its sender would only send again, for as long as the damage lasts, is not kept: the queue of the dead letters would
    /// grow without end. A client is told to come back much later; the next tick, or the next session's end, says the same.
    func giveUp(_ delivery: SliceDelivery, reason: String) async throws {
        let content = try? delivery.content.get()
        switch content {
        case .bind, .identify, .page:
            guard let request = content?.request else { return }
            complain(of: delivery, reason)
            try await answer(request, delivery.original) {
                try self.refuse(request.realm, request.session, .damaged(request.realm), to: $0)
            }
        case .changesets(let changesets):
            guard let upload = changesets.upload else {
                return try setAside(delivery.original, reason: reason, app: changesets.realm.app)
            }
            // Its client keeps what it has not been acknowledged.
            complain(of: delivery, reason)
            try refuse(changesets.realm, upload.session, .damaged(changesets.realm))
        case .unbind, .tick: complain(of: delivery, reason)
        case .termination, .reset, .claim, nil:
            try setAside(delivery.original, reason: reason, app: delivery.realm?.app)
        }
    }

    private func complain(of delivery: SliceDelivery, _ reason: String) {
        logger.error(
            "message given up: what is stored cannot be read",
            metadata: [
                "type": "\(delivery.original.properties.type ?? "")", "app": "\(delivery.realm?.app ?? "")",
                "realm": "\(delivery.realm?.partition ?? "")", "reason": "\(reason)",
            ])
    }
}
