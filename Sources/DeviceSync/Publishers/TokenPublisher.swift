internal import Synchronization

#if canImport(Combine)
internal import Combine
private typealias PublisherSubscription = Combine.Subscription
#elseif OpenCombine
internal import OpenCombine
private typealias PublisherSubscription = OpenCombine.Subscription
#endif

#if canImport(Combine) || OpenCombine
/// What an observation reports, as a publisher. Each subscription is an observation of its own, which ends when it is cancelled.
///
/// Values are sent when they come, however many were asked for; `buffer(size:prefetch:whenFull:)` is for subscribers that are slow.
struct TokenPublisher<Output>: Publisher {
    typealias Failure = Never

    private let observe: (@escaping @Sendable (Output) -> Void) -> NotificationToken

    init(_ observe: @escaping (@escaping @Sendable (Output) -> Void) -> NotificationToken) { self.observe = observe }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        let subscription = TokenSubscription<Output> { _ = subscriber.receive($0) }
        subscriber.receive(subscription: subscription)
        subscription.start(observe)
    }
}

/// Unchecked: subscribers know nothing of concurrency. The observation reports from one place, one value at a time; what may happen beside that is behind a mutex.
private final class TokenSubscription<Output>: PublisherSubscription, @unchecked Sendable {
    private let receive: (Output) -> Void
    /// Nil before the observation begins.
    private let token = Mutex<NotificationToken?>(nil)
    private let isCancelled = Atomic(false)

    init(_ receive: @escaping (Output) -> Void) { self.receive = receive }

    func start(_ observe: (@escaping @Sendable (Output) -> Void) -> NotificationToken) {
        guard !isCancelled.load(ordering: .acquiring) else { return }
        let token = observe { [weak self] value in
            guard let self, !isCancelled.load(ordering: .acquiring) else { return }
            receive(value)
        }
        self.token.withLock { $0 = token }
        if isCancelled.load(ordering: .acquiring) { cancel() }
    }

    func request(_ demand: Subscribers.Demand) {}

    func cancel() {
        isCancelled.store(true, ordering: .releasing)
        token.withLock { $0.take() }?.invalidate()
    }
}
#endif
