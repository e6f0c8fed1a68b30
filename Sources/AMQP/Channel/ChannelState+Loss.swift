import DequeModule
import Logging

// How a channel ends, for now or for good.
extension ChannelState {
    /// The connection is gone: what was under way fails, what was not begun waits for the next one.
    func detach(_ error: AMQPError, culprit: UInt32 = 0, reason: AMQPError? = nil) {
        let wasClosing = if case .closing = phase { true } else { false }
        let requests = sent
        sent = []
        for entry in requests where !entry.replay && !entry.expired {
            if case .close = entry.request.operation {
                entry.request.continuation?.resume(returning: .success(.done))
            } else {
                fail(entry.request, entry.request.operation.method == culprit ? reason ?? error : error)
            }
        }
        for publish in ledger.reset() { publish.resolve(publish.returned ?? error) }
        forgetDeliveries()
        if wasClosing {
            phase = .closed
            loop.remove(self)
        } else {
            phase = .detached
        }
    }

    /// Nothing that was delivered can be answered any more; the broker delivers it again.
    private func forgetDeliveries() {
        content = nil
        fetched.clear()
        for consumer in consumers.values {
            consumer.unacked.clear()
            consumer.arrived = []
            consumer.subscription.buffer.clear()
            dropIfDone(consumer)
        }
    }

    /// The broker closed the channel: tell whoever caused it, and open it again.
    func closedByBroker(replyCode: Int, text: String, method: UInt32) throws(AMQPError) {
        try loop.writeChannelCloseOk(number)
        if case .closing = phase {
            // Both sides closed at once; ours is answered by theirs.
            sent.removeAll { entry in
                if case .close = entry.request.operation {
                    entry.request.continuation?.resume(returning: .success(.done))
                    return true
                }
                return false
            }
            phase = .closed
            loop.remove(self)
            return
        }
        let reason = AMQPError.fromBroker(replyCode: replyCode, text: text, otherwise: .channelClosed)
        let others = AMQPError(.channelClosed, "another operation closed the channel: \(text)", replyCode: replyCode)
        let requests = sent
        sent = []
        // Several of one kind may be under way, and answers to consuming come late: the text names the queue or
        // exchange.
        let culprit =
            requests.firstIndex { $0.request.operation.method == method && $0.request.operation.isNamed(in: text) }
            ?? requests.firstIndex { $0.request.operation.method == method }
        for (index, entry) in requests.enumerated() where !entry.replay && !entry.expired {
            fail(entry.request, index == culprit ? reason : others)
        }
        for publish in ledger.reset() {
            // Only the text says which exchange it was that does not exist.
            let caused = method == Method.basicPublish && (replyCode != 404 || text.contains("'\(publish.exchange)'"))
            publish.resolve(publish.returned ?? (caused ? reason : others))
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

    /// Opens the channel again after a while, without what the broker will not have again.
    private func recover(_ reason: AMQPError, failed: ChannelOperation?) {
        // One that worked for a while has earned a quick return.
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
                retire(subscription.tag, reason)
            } else {
                topology.forget(failed)
            }
        } else {
            logger.warning(
                "channel closed by the broker", metadata: ["reason": "\(reason)", "failures": "\(failures)"])
        }
        let policy = loop.link.configuration.reconnect
        let delay = policy.delay(beforeAttempt: failures, random: Double.random(in: 0..<1))
        phase = .waiting(until: loop.now.advanced(by: delay))
        loop.armDeadlines()
    }

    /// The caller, or the connection, is done with this channel: fail everything that waits.
    func end(closing: Bool) {
        phase = closing ? .closing : .closed
        let error = AMQPError(.closed, "the channel was closed")
        for consumer in consumers.values {
            consumer.active = false
            consumer.arrived = []
            consumer.subscription.buffer.clear()
            consumer.subscription.buffer.end()
        }
        consumers = [:]
        lastConsumer = nil
        content = content.map { $0.discarded() }
        opening?.continuation.resume(returning: .failure(error))
        opening = nil
        for request in waiting { fail(request, error) }
        waiting = []
        for publish in publishes { publish.resolve(error) }
        publishes = []
        for publish in ledger.reset() { publish.resolve(publish.returned ?? error) }
        for index in sent.indices where !sent[index].expired {
            // Their answers still come, before that to the closing.
            sent[index].expired = true
            if !sent[index].replay { fail(sent[index].request, error) }
        }
        if !closing { loop.remove(self) }
    }

    // MARK: Deadlines

    /// Fails what has waited too long.
    ///
    /// - Returns: whether something is left that has a deadline.
    func expire(_ now: Monotonic, blocked: String?) -> Bool {
        var left = false
        let late = AMQPError(.timeout, "the broker did not answer in time")
        let held = blocked.map { AMQPError(.blocked, "the broker blocks publishers: \($0)") }
        if let opening {
            if opening.deadline <= now {
                opening.continuation.resume(returning: .failure(late))
                self.opening = nil
                if case .opening = phase {
                    let close = ChannelRequest(operation: .close, deadline: .never, record: false, continuation: nil)
                    submit(close)
                } else {
                    end(closing: false)
                }
                return false
            }
            left = true
        }
        waiting.removeAll { request in
            guard request.deadline <= now else {
                left = left || request.deadline < .never
                return false
            }
            fail(request, late)
            return true
        }
        for index in sent.indices where !sent[index].replay && !sent[index].expired {
            if sent[index].request.deadline <= now {
                sent[index].expired = true
                sent[index].request.continuation?.resume(returning: .failure(late))
            } else {
                left = left || sent[index].request.deadline < .never
            }
        }
        publishes.removeAll { publish in
            if publish.deadline <= now {
                publish.resolve(held ?? AMQPError(.timeout, "the message could not be written in time"))
                return true
            }
            left = left || publish.deadline < .never
            return false
        }
        for publish in ledger.open where !publish.isResolved {
            if publish.deadline <= now {
                publish.resolve(held ?? AMQPError(.timeout, "the broker did not confirm the message in time"))
            } else {
                left = left || publish.deadline < .never
            }
        }
        return left
    }
}
