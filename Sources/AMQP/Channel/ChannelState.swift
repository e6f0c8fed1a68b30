import CRabbitMQ
import DequeModule
import Logging
import Loops

/// A channel as the connection's thread sees it, over all its openings.
final class ChannelState {
    enum Phase {
        /// There is no connection.
        case detached
        /// The broker has been asked to open the channel, with everything that was on it before.
        case opening
        case open
        /// The broker closed the channel; it is opened again at this time.
        case waiting(until: Monotonic)
        /// The broker has been asked to close the channel, which is opened again then.
        case reopening
        /// The broker has been asked to close the channel.
        case closing
        case closed
    }

    let id: ChannelID
    let number: UInt16
    let prefetch: UInt16
    let confirms: Bool
    unowned let loop: ConnectionLoop
    var logger: Logger
    /// How deliveries find their way back to the channel.
    let handle: ChannelHandle

    var phase = Phase.detached
    /// Grows with every opening. A delivery of an earlier opening cannot be answered any more.
    private(set) var epoch: UInt64 = 0
    /// The caller that waits for the first opening.
    var opening: ChannelOpening?
    /// How often in a row the broker closed the channel without a caller's doing.
    var failures = 0
    private(set) var openedAt = Monotonic(nanoseconds: 0)
    private var replaysLeft = 0
    private var refusals = RefusalWatch()
    /// Whether the broker lets this channel publish.
    var flows = true
    /// Whether the loop has the channel on its list of those with messages to write.
    var listed = false

    var requests = RequestQueue()
    var outgoing = OutgoingMessages()
    var incoming = IncomingMessages()
    var consumers = ChannelConsumers()
    var topology = Topology()

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

    /// Opens the channel on the present connection, with everything that was on it. All of it is written at once,
    /// without waiting for answers in between.
    func attach() {
        epoch = loop.makeEpoch()
        phase = .opening
        refusals.opened()
        flows = true
        var operations: [ChannelOperation] = [.open, .qos(prefetch: prefetch)]
        if confirms { operations.append(.confirmSelect) }
        operations += topology.inOrder + consumers.subscriptions.map { .consume($0) }
        replaysLeft = operations.count
        for operation in operations { write(ChannelRequest(operation), replay: true) }
    }

    private func replayed() {
        replaysLeft -= 1
        guard replaysLeft == 0, case .opening = phase else { return }
        phase = .open
        openedAt = loop.now
        opening?.continuation.resume(returning: .success(number))
        opening = nil
        for request in requests.takeWaiting() { submit(request) }
        loop.wantsToPublish(self)
    }

    // MARK: Requests

    /// Takes a request from a caller: writes it, or keeps it until the channel is open.
    func submit(_ request: ChannelRequest) {
        switch (phase, request.operation) {
        case (.closed, _), (.closing, _):
            fail(request, AMQPError(.closed, "the channel is closed"))
        case (.reopening, .close):
            // The broker has been asked to already.
            end(closing: true)
            request.succeed()
        case (.open, .close), (.opening, .close):
            end(closing: true)
            write(request)
        case (_, .close):
            end(closing: false)
            request.succeed()
        case (.detached, .cancel(let tag)), (.waiting, .cancel(let tag)), (.reopening, .cancel(let tag)):
            // There is no subscription just now: it is enough not to subscribe again.
            consumers.retire(tag)
            request.succeed()
        case (.open, _):
            write(request)
        default:
            requests.add(waiting: request)
            loop.armDeadlines()
        }
    }

    private func write(_ request: ChannelRequest, replay: Bool = false) {
        if case .consume(let subscription) = request.operation, !replay, !consumers.add(subscription) {
            return fail(request, AMQPError(.invalidArgument, "the channel has a consumer named \(subscription.tag)"))
        }
        if case .cancel(let tag) = request.operation, consumers[tag]?.active != true { return request.succeed() }
        do throws(AMQPError) {
            try request.operation.encode(to: &loop.output, channel: number)
            requests.add(sent: request, replay: replay)
            loop.armDeadlines()
        } catch {
            fail(request, error)
            if replay { replayed() }
        }
    }

    /// Takes the broker's answer to the oldest request of its kind, or to the one about the consumer that it names.
    func answered(by method: UInt32, tag: amqp_bytes_t? = nil, _ reply: ChannelReply) throws(AMQPError) {
        let answered = try requests.takeAnswered(by: method, tag: tag)
        let request = answered.request
        switch request.operation {
        case .close:
            if case .reopening = phase {
                forgetDeliveries()
                let error = AMQPError(.channelClosed, "the channel was opened again: the broker refused messages")
                outgoing.failUnconfirmed { _ in error }
                attach()
            } else {
                finish()
            }
        case .cancel(let tag): consumers.retire(tag)
        default: if request.record { topology.note(request.operation) }
        }
        if !answered.expired {
            request.succeed(reply)
        } else if case .message(let delivery?) = reply {
            // The caller of `get` does not wait any more.
            acknowledge(Acknowledgement(.reject(requeue: true), delivery))
        }
        if answered.replay { replayed() }
    }

    /// Opens the channel again if the broker goes on refusing what is published on it. A channel with consumers keeps what they hold.
    func wasRefused() {
        guard case .open = phase, consumers.isEmpty, refusals.refused(at: loop.now) else { return }
        logger.warning("the broker goes on refusing messages: the channel is opened again")
        phase = .reopening
        write(ChannelRequest(.close))
    }

    func fail(_ request: ChannelRequest, _ error: AMQPError) {
        if case .consume(let subscription) = request.operation { consumers.remove(subscription, error) }
        request.fail(error)
    }

    /// Cancels a consumer whose deliveries no task can take any more, and gives back what is left of them.
    func drop(_ subscription: Subscription) {
        if let consumer = consumers[subscription.tag], consumer.subscription.buffer === subscription.buffer {
            consumer.dropped = true
            consumer.handOver()
            if consumer.active { submit(ChannelRequest(.cancel(tag: subscription.tag))) }
        }
        for delivery in subscription.buffer.takeAll() {
            acknowledge(Acknowledgement(.reject(requeue: true), delivery))
        }
    }
}
