/// What the client asks of its thread.
enum Command: Sendable {
    case submit(Request)
    /// A connection of its own for several requests.
    case lease(Lease)
    case release(lease: UInt64)
    /// The task that waits for this request or lease does not want it any more.
    case cancel(id: UInt64)
    case connected(ConnectOutcome)
    case stop(CheckedContinuation<Void, Never>?)
}
