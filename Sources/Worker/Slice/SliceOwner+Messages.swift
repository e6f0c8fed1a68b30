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

    /// Deals with one message; one that cannot be dealt with is set aside, and hurts nobody else.
    func handle(_ message: AMQPMessage) async throws {
        do {
            let envelope = try Envelope(of: message)
            switch envelope.type {
            case ChangesetMessage.type:
                let changesets = try message.decode(ChangesetMessage.self)
                if try forward(message, of: changesets.realm) { return }
                if let upload = changesets.upload {
                    try await integrate(changesets, upload, message)
                } else {
                    try await integrate(event: changesets, id: envelope.id)
                }
            case BindRequest.type:
                let request = try message.decode(BindRequest.self)
                if try forward(message, of: request.context.realm) { return }
                try await answer(request.context, message) { try await self.bind(request, reply: $0) }
            case IdentifyRequest.type:
                let request = try message.decode(IdentifyRequest.self)
                try await answer(request.context, message) { try await self.identify(request, reply: $0) }
            case PageRequest.type:
                let request = try message.decode(PageRequest.self)
                try await answer(request.context, message) { try await self.page(request, reply: $0) }
            case UnbindNotice.type: try await unbind(message.decode(UnbindNotice.self))
            case TerminationMessage.type:
                try await terminate(message.decode(TerminationMessage.self), messageID: envelope.id)
            case ResetMessage.type:
                let request = try message.decode(ResetMessage.self)
                if try forward(message, of: request.realm) { return }
                try await reset(request, messageID: envelope.id)
            case TickMessage.type: try await tick(message.decode(TickMessage.self))
            case ClaimMessage.type: break
            case let type:
                throw PoisonError(
                    reason: "message type \"\(type)\" is unknown; docs/messages.md lists the types", app: nil)
            }
        } catch let error as MessageError {
            try setAside(message, reason: error.description, app: nil)
        } catch let error as PoisonError {
            try setAside(message, reason: error.reason, app: error.app)
        }
    }

    /// Passes a message on that was published to another slice's queue than its realm lives in, as a shell may do.
    /// A realm must never come into being in two slices.
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
