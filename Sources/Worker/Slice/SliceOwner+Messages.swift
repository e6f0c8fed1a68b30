import AMQP
import Logging
import Messages
import SyncModel

/// Where the answer to a request goes.
struct ReplyAddress {
    var queue: String
    var correlationID: String?
    /// Whether the broker has delivered the request before: then its sender may have gone on since.
    var isRedelivered = false
}

extension SliceOwner {
    private static let typeHeader = "x-sluice-type"

    /// Deals with one message; one that cannot be dealt with is set aside, and hurts no other.
    func handle(_ delivery: SliceDelivery) async throws {
        do {
            try await handle(try delivery.content.get(), of: delivery)
        } catch let error as PoisonError {
            try setAside(delivery.original, reason: error.reason, app: error.app)
        }
    }

    private func handle(_ content: SliceMessage, of delivery: SliceDelivery) async throws {
        let message = delivery.original
        if content.mayMakeRealm, let realm = content.realm, try forward(message, of: realm) { return }
        switch content {
        case .changesets(let changesets):
            if let upload = changesets.upload {
                try await integrate(changesets, upload, message)
            } else {
                try await integrate(event: changesets, id: delivery.id)
            }
        case .bind(let request): try await answer(request.context, message) { try await bind(request, reply: $0) }
        case .identify(let request):
            try await answer(request.context, message) { try await identify(request, reply: $0) }
        case .page(let request): try await answer(request.context, message) { try await page(request, reply: $0) }
        case .unbind(let notice): try await unbind(notice)
        case .termination(let termination): try await terminate(termination, messageID: delivery.id)
        case .reset(let request): try await reset(request, messageID: delivery.id)
        case .tick(let tick): try await self.tick(tick)
        case .claim: break
        }
    }

    /// Passes a message on that was published to another slice's queue than its realm lives in, as a shell may do.
    private func forward(_ message: AMQPMessage, of realm: RealmName) throws -> Bool {
        guard let slices, case let right = realm.slice(of: slices), right != slice else { return false }
        let header = "x-sluice-forwarded"
        guard message.properties.headers[header] == nil else {
            throw PoisonError(
                reason: "realm \(realm) lives in slice \(right), and the message was passed on to slice \(slice): the"
                    + " processes do not agree on the number of slices",
                app: realm.app)
        }
        var message = message.forRepublishing()
        message.properties.headers[header] = .bool(true)
        publish(Publication(.slice(right), message))
        return true
    }

    func answer(
        _ context: RequestContext, _ message: AMQPMessage, _ body: (ReplyAddress) async throws -> Void
    ) async throws {
        let age = requestAges.age(sentAt: context.sentAt, by: context.session.gateway, at: clock.uptime())
        guard age <= context.patience else {
            metrics.requestExpired()
            return
        }
        try await body(
            ReplyAddress(
                queue: message.properties.replyTo ?? topology.gateway(context.session.gateway),
                correlationID: message.properties.correlationID,
                isRedelivered: message.properties.headers["x-delivery-count"] != nil))
    }

    func reply(_ answer: some Message, to address: ReplyAddress) throws {
        let message = try AMQPMessage(answer, correlationID: address.correlationID, persistent: false)
        publish(Publication(.queue(address.queue), message))
    }

    /// The same effect as a rejection, with the reason attached.
    ///
    /// - Parameter isOnce: the message, if it comes again, is not looked at any more.
    func setAside(_ message: AMQPMessage, reason: String, app: String?, isOnce: Bool = false) throws {
        logger.error(
            "message set aside in the dead-letter queue",
            metadata: ["type": "\(message.properties.type ?? "")", "app": "\(app ?? "")", "reason": "\(reason)"])
        metrics.deadLettered(app: app)
        var dead = message.forRepublishing()
        dead.properties.headers[DeadLetter.reasonHeader] = .string(String(reason.prefix(1_000)))
        dead.properties.headers[DeadLetter.queueHeader] = .string(topology.slice(slice))
        dead.properties.headers[Self.typeHeader] = .string(message.properties.type ?? "")
        if let app { dead.properties.headers[DeadLetter.appHeader] = .string(app) }
        if isOnce { try publishOnce(Publication(.dead, dead)) } else { publish(Publication(.dead, dead)) }
    }
}
