import AMQP
import Logging
import Messages
import Operations
import Storage
import SyncModel

/// Takes the messages of one batch, has each dealt with by the part of the owner that it is for, and gives up those that cannot
/// be dealt with.
struct MessageHandler: SlicePart {
    let work: SliceWork
    /// Realms that a message has found damaged. It may be the only one that touches what is damaged.
    private var damaged: Set<RealmName> = []
    /// Realms that a second message has found damaged, and why: their other messages are not tried.
    private var givenUp: [RealmName: String] = [:]

    /// Whether the message that was tried last waits for a job: it hurts nobody if others of its realm go before it.
    private(set) var isWaitingForJob = false

    init(work: SliceWork) { self.work = work }

    /// Deals with one message. One that cannot be dealt with leaves no trace, and hurts no other.
    ///
    /// - Returns: false for a message that has to wait: for its merge, or until a job has come further.
    /// - Throws: what is of more than this message: a failed commit, or a store that cannot be read.
    @discardableResult
    mutating func take(_ delivery: SliceDelivery) async throws -> Bool {
        isWaitingForJob = false
        takeUpLook(of: delivery.realm)
        if let realm = delivery.realm, let reason = givenUp[realm] {
            try await giveUp(delivery, reason: reason)
        } else {
            do {
                try await handle(try delivery.content.get(), of: delivery)
            } catch is WaitsForJob {
                work.undo()
                isWaitingForJob = true
                if let realm = delivery.realm {
                    logger.trace("message waits for a job", metadata: about([delivery], of: realm))
                }
                return false
            } catch let error as PoisonError {
                work.undo()
                try work.setAside(delivery, reason: error.reason, app: error.app)
            } catch let pause as MergePause {
                put(aside: pause, [delivery])
                return false
            } catch let pause as LookPause {
                wait(for: pause, [delivery])
                return false
            } catch {
                guard await isOfOneMessage(error) else { throw error }
                work.undo()
                if Self.isDamage(error), let realm = delivery.realm, !damaged.insert(realm).inserted {
                    givenUp[realm] = "\(error)"
                }
                try await giveUp(delivery, reason: "\(error)")
            }
        }
        work.keep()
        forgetLooks(of: delivery.realm)
        return true
    }

    /// Deals with uploads that follow each other: with all of them together if that goes well, else with each alone. The result
    /// is the same, but what they all meet is read and merged with once.
    ///
    /// - Returns: how many were dealt with; the others have to wait.
    mutating func take(together uploads: [SliceDelivery]) async throws -> Int {
        if let realm = uploads.first?.realm, uploads.count > 1, givenUp[realm] == nil, !damaged.contains(realm),
            var (message, upload) = uploads[0].upload
        {
            for (next, head) in uploads.dropFirst().compactMap(\.upload) {
                message.entries += next.entries
                upload.progress = head.progress
                upload.lockedServerVersion = head.lockedServerVersion
            }
            takeUpLook(of: realm)
            do {
                let uploads = uploads
                try await admittance.answering(upload.session, of: realm, at: nil) {
                    try await Uploads(work: work).integrate(message, upload, uploads.flatMap(\.changesets), nil)
                }
                work.keep()
                forgetLooks(of: realm)
                return uploads.count
            } catch let pause as MergePause {
                put(aside: pause, uploads)
                return 0
            } catch let pause as LookPause {
                wait(for: pause, uploads)
                return 0
            } catch {
                guard await isOfOneMessage(error) else { throw error }
                work.undo()
            }
        }
        for (index, delivery) in uploads.enumerated() {
            guard try await take(delivery) else { return index }
        }
        return uploads.count
    }

    /// Undoes what uploads have changed before their merge turned out to take long.
    private func put(aside pause: MergePause, _ uploads: [SliceDelivery]) {
        work.undo()
        guard let realm = uploads.first?.realm else { return }
        logger.debug("upload waits: its merge goes on beside the slice", metadata: about(uploads, of: realm))
        metrics.mergesAside(app: realm.app)
        work.memory.asides.merges.pause(realm, messages: uploads.count, for: pause.merge)
    }

    /// Undoes what messages have changed before a look turned out to take long.
    private func wait(for pause: LookPause, _ messages: [SliceDelivery]) {
        work.undo()
        guard let realm = messages.first?.realm else { return }
        logger.debug("message waits: a look at views goes on beside the slice", metadata: about(messages, of: realm))
        if pause.look != nil { metrics.looksAside(app: realm.app) }
        work.memory.asides.pause(realm, messages: messages.count, for: pause)
    }

    /// Makes the metadata of a line about messages that wait.
    private func about(_ messages: [SliceDelivery], of realm: RealmName) -> Logger.Metadata {
        let content = try? messages.first?.content.get()
        let session = content?.request?.session ?? messages.first?.upload?.1.session
        return .about(realm, session: session, ["messages": "\(messages.count)"])
    }

    private func takeUpLook(of realm: RealmName?) {
        if let realm { noteAside(work.memory.asides.takeUp(realm)) }
    }

    /// Forgets what was found out for a message that is through.
    private func forgetLooks(of realm: RealmName?) {
        guard let realm else { return }
        work.memory.asides.forget(realm)
        if realm.isFlexible { work.memory.realms[realm]?.flexible.end() }
    }

    /// Whether the message in hand alone cannot go on with the error.
    private func isOfOneMessage(_ error: any Error) async -> Bool {
        switch error {
        case is CancellationError, is CommitError: false
        // Damage of what every message needs is of all.
        case let error as StoreError: error.code == .corrupt ? (try? await store.ownership()) != nil : false
        default: true
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

    // MARK: Dealing with a message

    private func handle(_ content: SliceMessage, of delivery: SliceDelivery) async throws {
        if let realm = content.realm, try forward(delivery.original, of: realm) { return }
        let requests = SessionRequests(work: work)
        switch content {
        case .changesets(let changesets):
            if let upload = changesets.upload {
                try await admittance.answering(upload.session, of: changesets.realm, at: nil) {
                    try await Uploads(work: work).integrate(changesets, upload, delivery.changesets, delivery)
                }
            } else {
                try await PublishedEvents(work: work).integrate(changesets, delivery)
            }
        case .write(let message): try await PublishedEvents(work: work).integrate(message, delivery)
        case .bind(let request):
            try await answer(request.context, delivery) { try await requests.bind(request, reply: $0) }
        case .identify(let request):
            try await answer(request.context, delivery) { try await requests.identify(request, reply: $0) }
        case .page(let request):
            try await answer(request.context, delivery) { try await requests.page(request, reply: $0) }
        case .unbind(let notice): try await requests.unbind(notice)
        case .termination(let message): try await Resets(work: work).terminate(message, messageID: delivery.id)
        case .reset(let message): try await Resets(work: work).reset(message, messageID: delivery.id)
        case .rules(let message): try await NewRules(work: work).take(message, id: delivery.id)
        case .allowResets(let message): try await Resets(work: work).allow(message)
        case .erase(let message): try await Erasures(work: work).erase(message, messageID: delivery.id)
        case .eraseApp(let message): try await Erasures(work: work).erase(message)
        case .tick(let tick): try await Ticks(work: work).tick(tick)
        case .claim: break
        }
    }

    /// Passes a message on that was published to another slice's queue than its realm lives in, as a shell may do: a realm must never come into being
    /// in two slices.
    private func forward(_ message: AMQPMessage, of realm: RealmName) throws -> Bool {
        guard let slices = work.environment.slices, case let right = realm.slice(of: slices), right != slice else {
            return false
        }
        let header = "x-sluice-forwarded"
        guard message.properties.headers[header] == nil else {
            throw PoisonError(
                reason: "realm \(realm) lives in slice \(right), and the message was passed on to slice \(slice): the"
                    + " processes do not agree on the number of slices",
                app: realm.app)
        }
        var message = message.forRepublishing()
        message.properties.headers[header] = .bool(true)
        work.publish(Publication(.slice(right), message))
        return true
    }

    /// Answers a request, unless nobody waits for the answer any more.
    private func answer(
        _ context: RequestContext, _ delivery: SliceDelivery, _ body: (ReplyAddress) async throws -> Void
    ) async throws {
        guard let address = address(of: context, delivery) else { return }
        try await admittance.answering(context.session, of: context.realm, at: address) { try await body(address) }
    }

    /// Where the answer to a request goes; nil if nobody waits for it any more.
    private func address(of context: RequestContext, _ delivery: SliceDelivery) -> ReplyAddress? {
        let age = work.memory.requestAges.age(sentAt: context.sentAt, by: context.session.gateway, at: clock.uptime())
        guard age <= context.patience else {
            metrics.requestExpired()
            return nil
        }
        let properties = delivery.original.properties
        return ReplyAddress(
            queue: properties.replyTo ?? work.environment.topology.gateway(context.session.gateway),
            correlationID: properties.correlationID, isRedelivered: properties.headers["x-delivery-count"] != nil)
    }

    // MARK: Giving a message up

    /// Does what can be done for a message that cannot be dealt with.
    ///
    /// A message that its sender would only send again, for as long as the damage lasts, is not kept: the queue of the dead letters would
    /// grow without end. A client is told to come back much later; the next tick, or the next session's end, says the same.
    private func giveUp(_ delivery: SliceDelivery, reason: String) async throws {
        let content = try? delivery.content.get()
        switch content {
        case .bind, .identify, .page:
            complain(of: delivery, reason)
            guard let request = content?.request, let address = address(of: request, delivery) else { return }
            try admittance.refuse(request.session, of: request.realm, .damaged(request.realm), to: address)
        case .changesets(let changesets):
            guard let upload = changesets.upload else {
                return try work.setAside(delivery, reason: reason, app: changesets.realm.app)
            }
            // The upload's client keeps what has not been acknowledged to it.
            complain(of: delivery, reason)
            try admittance.refuse(upload.session, of: changesets.realm, .damaged(changesets.realm), to: nil)
        case .unbind, .rules, .tick: complain(of: delivery, reason)
        case .write, .termination, .reset, .allowResets, .erase, .eraseApp, .claim, nil:
            try work.setAside(delivery, reason: reason, app: delivery.realm?.app)
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
