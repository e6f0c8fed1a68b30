import CRabbitMQ
import DequeModule
import Loops

/// The requests of one channel: those that were written and are not answered, and those that wait until the channel is
/// open. Touches neither socket nor clock.
struct RequestQueue {
    /// A request that the broker has not answered yet.
    struct Sent {
        let request: ChannelRequest
        /// Whether the request is part of opening the channel again, rather than made by a caller.
        let replay: Bool
        /// Whether the caller has been told that the deadline passed. The broker's answer still comes.
        var expired = false
    }

    private var sent: Deque<Sent> = []
    private var waiting: Deque<ChannelRequest> = []

    mutating func add(sent request: ChannelRequest, replay: Bool) {
        sent.append(Sent(request: request, replay: replay))
    }

    mutating func add(waiting request: ChannelRequest) { waiting.append(request) }

    /// Takes the requests that waited for the channel to open.
    mutating func takeWaiting() -> Deque<ChannelRequest> {
        defer { waiting = [] }
        return waiting
    }

    /// Takes the requests that the broker will not answer any more.
    mutating func takeSent() -> Deque<Sent> {
        defer { sent = [] }
        return sent
    }

    /// Takes the oldest request that a method of the broker answers. Answers to consuming and cancelling come from the
    /// queue itself and may be overtaken by others, so they name their consumer.
    mutating func takeAnswered(by method: UInt32, tag: amqp_bytes_t?) throws(AMQPError) -> Sent {
        let index = sent.firstIndex { entry in
            guard entry.request.operation.isAnswered(by: method) else { return false }
            guard let tag, let expected = entry.request.operation.consumerTag else { return true }
            return tag.matches(expected)
        }
        guard let index else {
            throw AMQPError(.protocolError, "expected no answer by method \(method >> 16).\(method & 0xFFFF)")
        }
        return sent.remove(at: index)
    }

    /// Fails every request, because the channel ends. Answers to what was sent may still come before the answer to the
    /// closing.
    ///
    /// - Parameter fail: fails one request.
    mutating func failAll(_ fail: (ChannelRequest) -> Void) {
        for request in takeWaiting() { fail(request) }
        for index in sent.indices where !sent[index].expired {
            sent[index].expired = true
            if !sent[index].replay { fail(sent[index].request) }
        }
    }

    /// Fails the requests whose deadline has passed.
    ///
    /// - Parameters:
    ///   - error: the error for the callers.
    ///   - fail: fails a request that was never written.
    /// - Returns: whether a request with a deadline is left.
    mutating func expire(_ now: Monotonic, _ error: AMQPError, fail: (ChannelRequest) -> Void) -> Bool {
        var left = false
        waiting.removeAll { request in
            guard request.deadline <= now else {
                left = left || request.deadline < .never
                return false
            }
            fail(request)
            return true
        }
        for index in sent.indices where !sent[index].replay && !sent[index].expired {
            if sent[index].request.deadline <= now {
                sent[index].request.fail(error)
                sent[index].expired = true
            } else {
                left = left || sent[index].request.deadline < .never
            }
        }
        return left
    }
}
