internal import Synchronization

#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
/// Something under way for a subscriber, such as an observation: it ends when this is cancelled.
///
/// Values are sent when they come, however many were asked for; `buffer(size:prefetch:whenFull:)` is for subscribers that are slow.
public final class ObservationSubscription: Sendable {
    private struct Contents {
        var isCancelled = false
        /// Nil before the observation begins.
        var end: (@Sendable () -> Void)?
    }
    private let contents = Mutex(Contents())

    var isCancelled: Bool { contents.withLock { $0.isCancelled } }

    /// - Parameter start: begins what ends by the function that it returns.
    func begin(_ start: () -> @Sendable () -> Void) {
        guard !isCancelled else { return }
        let end = start()
        let isTooLate = contents.withLock { contents in
            if !contents.isCancelled { contents.end = end }
            return contents.isCancelled
        }
        if isTooLate { end() }
    }

    /// Nothing: everything is sent.
    public func request(_ demand: Subscribers.Demand) {}

    /// Ends it.
    public func cancel() {
        let end = contents.withLock { contents in
            contents.isCancelled = true
            return contents.end.take()
        }
        end?()
    }
}

#if canImport(Combine)
extension ObservationSubscription: Combine.Subscription {}
#else
extension ObservationSubscription: OpenCombine.Subscription {}
#endif

/// The opening of a realm, for a subscriber.
public typealias AsyncOpenSubscription = ObservationSubscription
/// The observation of an app, for a subscriber.
public typealias AppSubscription = ObservationSubscription
/// The observation of a user, for a subscriber.
public typealias UserSubscription = ObservationSubscription

/// A subscriber, for the one place from which it gets everything, one thing at a time.
///
/// Unchecked: subscribers know nothing of concurrency.
struct Downstream<Input, Failure: Error>: @unchecked Sendable {
    private let receive: (Input) -> Void
    private let complete: (Subscribers.Completion<Failure>) -> Void

    init<S: Subscriber>(_ subscriber: S) where S.Input == Input, S.Failure == Failure {
        receive = { _ = subscriber.receive($0) }
        complete = { subscriber.receive(completion: $0) }
    }

    func send(_ value: Input) { receive(value) }

    func end(_ completion: Subscribers.Completion<Failure>) { complete(completion) }
}
#endif
