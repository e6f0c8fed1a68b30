internal import Dispatch

#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
/// The publishers of what realms have. Properties and functions of what is observed make them: `collectionPublisher`, `valuePublisher(_:keyPaths:)`, `Realm.asyncOpen(configuration:)` …
public enum RealmPublishers {
    /// What an observation reports. Each subscription is an observation of its own, which ends when it is cancelled.
    ///
    /// Values come where notifications come that name no queue: where the realm belongs, or on the main queue. `subscribe(on:)` names a queue; `receive(on:)` hands them over
    /// to another thread, queue or actor, where they arrive later.
    public struct Observation<Output, Failure: Error>: Publisher {
        typealias Report = @Sendable (Event) -> Void

        enum Event {
            case value(Output)
            case end(Subscribers.Completion<Failure>)
        }

        private let observe: (DispatchQueue?, @escaping Report) -> NotificationToken
        private var queue: DispatchQueue?
        private var keep: ((NotificationToken) -> Void)?

        init(_ observe: @escaping (DispatchQueue?, @escaping Report) -> NotificationToken) { self.observe = observe }

        /// Begins an observation.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let subscription = ObservationSubscription()
            let downstream = Downstream(subscriber)
            subscriber.receive(subscription: subscription)
            subscription.begin {
                let token = observe(queue) { [weak subscription] event in
                    guard let subscription, !subscription.isCancelled else { return }
                    switch event {
                    case .value(let value): downstream.send(value)
                    case .end(let completion):
                        subscription.cancel()
                        downstream.end(completion)
                    }
                }
                keep?(token)
                return { token.invalidate() }
            }
        }

        /// The same, observed on a serial queue: the values come there, and belong there. A scheduler that is no queue traps.
        public func subscribe<S: Scheduler>(on scheduler: S) -> Observation {
            var other = self
            other.queue = RealmPublishers.queue(scheduler)
            return other
        }

        /// The same, each observation's token being assigned to a property: it ends also when the token is invalidated.
        public func saveToken<T>(on object: T, at keyPath: WritableKeyPath<T, NotificationToken?>) -> Observation {
            var other = self
            other.keep = { token in
                var object = object
                object[keyPath: keyPath] = token
            }
            return other
        }

        /// The same, each observation's token being assigned to a property; see `saveToken(on:at:)`.
        public func saveToken<T>(on object: T, for keyPath: WritableKeyPath<T, NotificationToken?>) -> Observation {
            saveToken(on: object, at: keyPath)
        }
    }

    /// Opens a realm for each subscriber after downloading what the server has, as `Realm.asyncOpen(configuration:callbackQueue:callback:)` does.
    public struct AsyncOpenPublisher: Publisher {
        /// The realm.
        public typealias Output = Realm
        /// Why it could not be opened.
        public typealias Failure = any Error

        let configuration: Realm.Configuration
        var queue = DispatchQueue.main
        var progress: (@Sendable (SyncSession.Progress) -> Void)?

        /// Begins to open the realm.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Realm, S.Failure == any Error {
            let subscription = ObservationSubscription()
            let downstream = Downstream(subscriber)
            subscriber.receive(subscription: subscription)
            subscription.begin {
                let task = Realm.asyncOpen(configuration: configuration, callbackQueue: queue) {
                    [weak subscription] result in
                    guard subscription?.isCancelled == false else { return }
                    switch result {
                    case .success(let realm):
                        downstream.send(realm)
                        downstream.end(.finished)
                    case .failure(let error): downstream.end(.failure(error))
                    }
                }
                if let progress { task.addProgressNotification(queue: queue, block: progress) }
                return { task.cancel() }
            }
        }

        /// The same, with a function that is told how the download gets on.
        @preconcurrency
        public func onProgressNotification(
            _ onProgressNotificationCallback: @escaping @Sendable (SyncSession.Progress) -> Void
        ) -> AsyncOpenPublisher {
            var other = self
            other.progress = onProgressNotificationCallback
            return other
        }

        /// The same, the realm being opened for a serial queue. A scheduler that is no queue traps.
        public func receive<S: Scheduler>(on scheduler: S) -> AsyncOpenPublisher {
            var other = self
            other.queue = RealmPublishers.queue(scheduler)
            return other
        }
    }

    /// The queue that a scheduler is, or stands for; nil for another.
    static func knownQueue(_ scheduler: some Scheduler) -> DispatchQueue? {
        scheduler as? DispatchQueue
            ?? Mirror(reflecting: scheduler).children.lazy.compactMap { $0.value as? DispatchQueue }.first
    }

    private static func queue(_ scheduler: some Scheduler) -> DispatchQueue {
        guard let queue = knownQueue(scheduler) else {
            preconditionFailure("only a serial DispatchQueue can be subscribed on; \(type(of: scheduler)) is none")
        }
        return queue
    }
}

extension RealmPublishers.Observation where Failure == Never {
    /// What an observation reports that has neither errors nor an end.
    init(endless observe: @escaping (DispatchQueue?, @escaping @Sendable (Output) -> Void) -> NotificationToken) {
        self.init { queue, report in observe(queue) { report(.value($0)) } }
    }
}
#endif
