import Loops

/// What the broker answers to an operation.
enum ChannelReply: Sendable {
    case done
    case queue(AMQPQueueInfo)
    case count(Int)
    case message(AMQPDelivery?)
}

/// An operation on a channel, with the deadline for its answer and the caller that waits for the answer.
struct ChannelRequest: Sendable {
    let operation: ChannelOperation
    let deadline: Monotonic
    /// Whether a declaration is made again when the channel is opened again.
    let record: Bool
    /// Nil for a request that the channel makes by itself.
    private let continuation: CheckedContinuation<Result<ChannelReply, AMQPError>, Never>?

    init(
        _ operation: ChannelOperation, deadline: Monotonic = .never, record: Bool = false,
        continuation: CheckedContinuation<Result<ChannelReply, AMQPError>, Never>? = nil
    ) {
        self.operation = operation
        self.deadline = deadline
        self.record = record
        self.continuation = continuation
    }

    /// Whether the request asks to close the channel.
    var isClose: Bool { if case .close = operation { true } else { false } }

    func succeed(_ reply: ChannelReply = .done) { continuation?.resume(returning: .success(reply)) }

    func fail(_ error: AMQPError) { continuation?.resume(returning: .failure(error)) }

    /// Answers a request for a channel that does not exist any more.
    func refuse() {
        switch operation {
        case .close, .cancel: succeed()
        default: fail(AMQPError(.closed, "the channel is closed"))
        }
    }
}
