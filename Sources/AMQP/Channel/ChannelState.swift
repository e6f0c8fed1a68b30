import CRabbitMQ
import DequeModule
import Logging

/// A channel as the connection's thread sees it, over all its openings.
final class ChannelState {
    enum Phase {
        /// There is no connection.
        case detached
        /// Asked for, with everything that was on it before.
        case opening
        case open
        /// The broker closed it; it is opened again at this time.
        case waiting(until: Monotonic)
        /// Asked to close.
        case closing
        case closed
    }

    /// A request that the broker has not answered yet.
    struct Sent {
        let request: ChannelRequest
        /// Part of an opening rather than asked for by a caller.
        let replay: Bool
        var expired = false
    }

    let id: ChannelID
    let number: UInt16
    let prefetch: UInt16
    let confirms: Bool
    unowned let loop: ConnectionLoop
    var logger: Logger
    /// How deliveries find their way back here.
    let handle: ChannelHandle

    var phase = Phase.detached
    /// Grows with every opening; what was delivered under an earlier one cannot be answered any more.
    var epoch: UInt64 = 0
    /// Who waits for the first opening.
    var opening: ChannelOpening?
    /// How often in a row the broker closed it without a caller's doing.
    var failures = 0
    var openedAt = Monotonic(nanoseconds: 0)
    private var replaysLeft = 0

    var sent: Deque<Sent> = []
    var waiting: Deque<ChannelRequest> = []
    var publishes: Deque<PendingPublish> = []
    var ledger = ConfirmLedger<PendingPublish>()
    var flows = true
    /// Whether the loop has it on its list of channels with something to publish.
    var listed = false

    var topology = Topology()
    var consumers: [String: ConsumerState] = [:]
    var fetched = UnackedTags()
    var content: IncomingContent?
    var exchangeNames = TextCache()
    var routingKeys = TextCache()
    var properties = PropertiesReader()
    /// The consumer of the last delivery: mostly also that of the next.
    var lastConsumer: ConsumerState?

    init(_ opening: ChannelOpening, number: UInt16, loop: ConnectionLoop) {
        self.id = opening.id
        self.number = number
        self.prefetch = opening.prefetch
        self.confirms = opening.confirms
        self.opening = opening
        self.loop = loop
        self.logger = loop.logger
        self.handle = ChannelHandle(id: opening.id, link: loop.link)
        logger[metadataKey: "channel"] = "\(number)"
    }

    // MARK: Opening

    /// Opens the channel on the present connection, with all that was on it; nothing waits for an answer in between.
    func attach() {
        epoch = loop.makeEpoch()
        phase = .opening
        flows = true
        var operations: [ChannelOperation] = [.open, .qos(prefetch: prefetch)]
        if confirms { operations.append(.confirmSelect) }
        operations += topology.inOrder
        for consumer in consumers.values where consumer.active { operations.append(.consume(consumer.subscription)) }
        replaysLeft = operations.count
        for operation in operations {
            write(ChannelRequest(operation: operation, deadline: .never, record: true, continuation: nil), replay: true)
        }
    }

    private func replayed() {
        replaysLeft -= 1
        guard replaysLeft == 0, case .opening = phase else { return }
        phase = .open
        openedAt = loop.now
        if let opening {
            opening.continuation.resume(returning: .success(number))
            self.opening = nil
        }
        let requests = waiting
        waiting = []
        for request in requests { submit(request) }
        loop.wantsToPublish(self)
    }

    // MARK: Requests

    /// Takes a request from a caller: writes it, or keeps it until the channel is open.
    func submit(_ request: ChannelRequest) {
        switch (phase, request.operation) {
        case (.closed, _), (.closing, _):
            fail(request, AMQPError(.closed, "the channel is closed"))
        case (.open, .close), (.opening, .close):
            end(closing: true)
            write(request, replay: false)
        case (_, .close):
            end(closing: false)
            request.continuation?.resume(returning: .success(.done))
        case (.detached, .cancel(let tag)), (.waiting, .cancel(let tag)):
            // Nobody is subscribed just now: it is enough not to subscribe again.
            retire(tag)
            request.continuation?.resume(returning: .success(.done))
        case (.open, _):
            write(request, replay: false)
        default:
            waiting.append(request)
            loop.armDeadlines()
        }
    }

    private func write(_ request: ChannelRequest, replay: Bool) {
        if case .consume(let subscription) = request.operation, !replay {
            if let known = consumers[subscription.tag] {
                guard !known.active else {
                    fail(request, AMQPError(.invalidArgument, "the channel has a consumer named \(subscription.tag)"))
                    return
                }
                known.subscription = subscription
                known.active = true
                known.dropped = false
            } else {
                consumers[subscription.tag] = ConsumerState(subscription)
            }
        }
        if case .cancel(let tag) = request.operation, consumers[tag]?.active != true {
            request.continuation?.resume(returning: .success(.done))
            return
        }
        do throws(AMQPError) {
            try request.operation.encode(to: &loop.output, channel: number, frameMax: loop.frameMax)
            sent.append(Sent(request: request, replay: replay))
            loop.armDeadlines()
        } catch {
            if case .consume(let subscription) = request.operation { consumers[subscription.tag] = nil }
            fail(request, error)
            if replay { replayed() }
        }
    }

    /// Takes the broker's answer to the oldest request of its kind. Answers to consuming and cancelling come from the
    /// queue itself and may be overtaken by others, so they name their consumer.
    func answered(by method: UInt32, tag: amqp_bytes_t? = nil, _ reply: ChannelReply) throws(AMQPError) {
        let index = sent.firstIndex { entry in
            guard entry.request.operation.isAnswered(by: method) else { return false }
            guard let tag, let expected = entry.request.operation.consumerTag else { return true }
            return tag.matches(expected)
        }
        guard let first = index.map({ sent.remove(at: $0) }) else {
            throw AMQPError(.protocolError, "expected no answer by method \(method >> 16).\(method & 0xFFFF)")
        }
        let request = first.request
        switch request.operation {
        case .close:
            phase = .closed
            loop.remove(self)
        case .cancel(let tag): retire(tag)
        default: if request.record, !first.replay { topology.note(request.operation) }
        }
        if case .message(let delivery?) = reply, first.expired {
            // Nobody waits for it any more.
            acknowledge(
                Acknowledgement(
                    kind: .reject(requeue: true), tag: delivery.deliveryTag, epoch: delivery.epoch, consumerTag: nil))
        }
        if !first.expired { request.continuation?.resume(returning: .success(reply)) }
        if first.replay { replayed() }
    }

    func fail(_ request: ChannelRequest, _ error: AMQPError) {
        if case .consume(let subscription) = request.operation {
            consumers[subscription.tag] = nil
            subscription.buffer.end(error)
        }
        request.continuation?.resume(returning: .failure(error))
    }

    /// Lets a consumer end once what it has is taken.
    func retire(_ tag: String, _ error: AMQPError? = nil) {
        guard let consumer = consumers[tag] else { return }
        consumer.active = false
        loop.deliver(consumer)
        consumer.subscription.buffer.end(error)
        dropIfDone(consumer)
    }

    /// Nobody takes a consumer's deliveries any more: cancel it, and give back what is left.
    func drop(_ subscription: Subscription) {
        if let consumer = consumers[subscription.tag], consumer.subscription.buffer === subscription.buffer {
            consumer.dropped = true
            loop.deliver(consumer)
            if consumer.active {
                submit(
                    ChannelRequest(
                        operation: .cancel(tag: subscription.tag), deadline: .never, record: false, continuation: nil))
            }
        }
        for delivery in subscription.buffer.takeAll() {
            acknowledge(
                Acknowledgement(
                    kind: .reject(requeue: true), tag: delivery.deliveryTag, epoch: delivery.epoch,
                    consumerTag: delivery.consumerTag))
        }
    }

    func dropIfDone(_ consumer: ConsumerState) {
        guard !consumer.active, consumer.unacked.first == nil else { return }
        consumers[consumer.subscription.tag] = nil
        if lastConsumer === consumer { lastConsumer = nil }
    }
}
