import CRabbitMQ
import DequeModule
import Logging
import Loops

// How a channel ends, for now or for good.
extension ChannelState {
    /// Takes the loss of the connection: what was under way fails, what was not begun waits for the next connection.
    ///
    /// - Parameters:
    ///   - culprit: the method for which the broker closed the connection, if it named one.
    ///   - reason: the error for requests of that method.
    func detach(_ error: AMQPError, culprit: UInt32 = 0, reason: AMQPError? = nil) {
        for entry in requests.takeSent() where !entry.replay && !entry.expired {
            if entry.request.isClose {
                entry.request.succeed()
            } else {
                fail(entry.request, entry.request.operation.method == culprit ? reason ?? error : error)
            }
        }
        outgoing.failUnconfirmed { _ in error }
        forgetDeliveries()
        if case .closing = phase { finish() } else { phase = .detached }
    }

    func forgetDeliveries() {
        incoming.clear()
        consumers.forgetDeliveries()
    }

    /// Leaves the loop: the channel is closed for good.
    func finish() {
        phase = .closed
        loop.remove(self)
    }

    /// Takes the broker's closing of the channel: fails the operation that caused it with the broker's reason, and opens
    /// the channel again.
    func closedByBroker(replyCode: Int, text: String, method: UInt32) throws(AMQPError) {
        try loop.output.appendMethod(Method.channelCloseOk, amqp_channel_close_ok_t(), channel: number)
        let requests = self.requests.takeSent()
        if case .reopening = phase {
            // Both sides closed at once.
            forgetDeliveries()
            let error = AMQPError.fromBroker(replyCode: replyCode, text: text, otherwise: .channelClosed)
            for entry in requests where !entry.request.isClose && !entry.expired { fail(entry.request, error) }
            outgoing.failUnconfirmed { _ in error }
            return attach()
        }
        if case .closing = phase {
            // Both sides closed at once; their closing answers ours. Every other request has failed before.
            for entry in requests where entry.request.isClose && !entry.expired { entry.request.succeed() }
            return finish()
        }
        let reason = AMQPError.fromBroker(replyCode: replyCode, text: text, otherwise: .channelClosed)
        let others = AMQPError(.channelClosed, "another operation closed the channel: \(text)", replyCode: replyCode)
        // Several requests of one kind may be under way, and answers to consuming come late: the text names the queue
        // or the exchange.
        let culprit =
            requests.firstIndex { $0.request.operation.method == method && $0.request.operation.isNamed(in: text) }
            ?? requests.firstIndex { $0.request.operation.method == method }
        for (index, entry) in requests.enumerated() where !entry.replay && !entry.expired {
            fail(entry.request, index == culprit ? reason : others)
        }
        outgoing.failUnconfirmed { publish in
            // Only the text says which exchange does not exist.
            let caused = method == Method.basicPublish && (replyCode != 404 || text.contains("'\(publish.exchange)'"))
            return caused ? reason : others
        }
        forgetDeliveries()
        let byCaller = culprit.map { !requests[$0].replay } ?? (method == Method.basicPublish)
        if byCaller {
            logger.debug("channel closed by a failed operation", metadata: ["reason": "\(reason)"])
            attach()
        } else {
            recover(reason, failed: culprit.map { requests[$0].request.operation })
        }
    }

    /// Opens the channel again after a while, without what the broker refuses for good.
    private func recover(_ reason: AMQPError, failed: ChannelOperation?) {
        // A channel that worked for a while has earned a quick return.
        if case .open = phase, loop.now.since(openedAt) > 30_000_000_000 { failures = 0 }
        failures += 1
        // A queue without a leader, or one whose former exclusive owner the broker still believes in, comes back by
        // itself.
        let passing =
            reason.code == .channelClosed || reason.code == .resourceLocked || reason.message.contains("timeout")
            || reason.message.contains("down or inaccessible")
        if let failed, !passing {
            logger.error("cannot be declared again on the reopened channel", metadata: ["reason": "\(reason)"])
            if case .consume(let subscription) = failed {
                consumers.retire(subscription.tag, reason)
            } else {
                topology.forget(failed)
            }
        } else {
            logger.warning(
                "channel closed by the broker", metadata: ["reason": "\(reason)", "failures": "\(failures)"])
        }
        phase = .waiting(until: loop.now.advanced(by: loop.link.configuration.reconnect.delay(beforeAttempt: failures)))
        loop.armDeadlines()
    }

    /// Fails everything that waits, because a caller or the connection is done with the channel.
    ///
    /// - Parameter closing: whether the broker is going to be asked to close the channel.
    func end(closing: Bool) {
        phase = closing ? .closing : .closed
        let error = AMQPError(.closed, "the channel was closed")
        consumers.endAll()
        incoming.discard()
        opening?.continuation.resume(returning: .failure(error))
        opening = nil
        outgoing.failAll(error)
        requests.failAll { fail($0, error) }
        if !closing { loop.remove(self) }
    }

    // MARK: Deadlines

    /// Fails what has waited too long.
    ///
    /// - Returns: whether something is left that has a deadline.
    func expire(_ now: Monotonic, blocked: String?) -> Bool {
        let late = AMQPError(.timeout, "the broker did not answer in time")
        if let opening, opening.deadline <= now {
            opening.continuation.resume(returning: .failure(late))
            self.opening = nil
            if case .opening = phase { submit(ChannelRequest(.close)) } else { end(closing: false) }
            return false
        }
        let held = blocked.map { AMQPError(.blocked, "the broker blocks publishers: \($0)") }
        let hasRequests = requests.expire(now, late) { fail($0, late) }
        let hasMessages = outgoing.expire(now, blocked: held)
        return opening != nil || hasRequests || hasMessages
    }
}
