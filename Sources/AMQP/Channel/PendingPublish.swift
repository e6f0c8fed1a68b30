import Loops

/// A message on its way to the broker, with the task that awaits the result.
///
/// Unchecked: the publishing task fills it in and hands it to the connection's thread, which alone touches it from then
/// on.
final class PendingPublish: @unchecked Sendable {
    /// The frames before the body's.
    let head: [UInt8]
    /// Emptied once written.
    var body: [UInt8]
    let exchange: String
    /// The id by which the broker's return names the message; nil for a message that is not mandatory.
    let returnID: String?
    let deadline: Monotonic
    private var completion: Completion?
    /// Set when the broker has returned the message; the confirm still follows.
    var returned: AMQPError?

    enum Completion {
        case single(UnsafeContinuation<AMQPError?, Never>)
        case batch(PublishBatch, Int)
    }

    init(
        head: [UInt8], body: [UInt8], exchange: String, returnID: String?, deadline: Monotonic, completion: Completion
    ) {
        self.head = head
        self.body = body
        self.exchange = exchange
        self.returnID = returnID
        self.deadline = deadline
        self.completion = completion
    }

    var isResolved: Bool { completion == nil }

    /// Ends the wait of the publishing task; only the first call counts.
    func resolve(_ error: AMQPError?) {
        guard let completion else { return }
        self.completion = nil
        body = []
        switch completion {
        case .single(let continuation): continuation.resume(returning: error)
        case .batch(let batch, let index): batch.resolve(index, error)
        }
    }
}

/// Publishes that are awaited together.
///
/// Unchecked for the same reason as the publishes themselves.
final class PublishBatch: @unchecked Sendable {
    private var errors: [AMQPError?]
    private var open: Int
    private let continuation: UnsafeContinuation<[AMQPError?], Never>

    init(count: Int, _ continuation: UnsafeContinuation<[AMQPError?], Never>) {
        errors = Array(repeating: nil, count: count)
        open = count
        self.continuation = continuation
    }

    func resolve(_ index: Int, _ error: AMQPError?) {
        errors[index] = error
        open -= 1
        if open == 0 { continuation.resume(returning: errors) }
    }
}
