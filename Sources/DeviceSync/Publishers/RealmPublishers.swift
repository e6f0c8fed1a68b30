#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
// Objects and collections that a publisher sends go elsewhere frozen, or by a reference.

extension Publisher {
    /// The same values, frozen: they can be used anywhere.
    public func freeze<T: ThreadConfined>() -> Publishers.Map<Self, T> where Output == T { map { $0.freeze() } }

    /// The same changes, of frozen objects.
    public func freeze<T: Object>() -> Publishers.Map<Self, ObjectChange<T>> where Output == ObjectChange<T> {
        map { change in change.map { $0.freeze() } }
    }

    /// The same changes, of frozen collections.
    public func freeze<T: RealmCollection>() -> Publishers.Map<Self, RealmCollectionChange<T>>
    where Output == RealmCollectionChange<T> {
        map { change in change.map { $0.freeze() } }
    }

    /// The same changes, of frozen maps.
    public func freeze<T: RealmKeyedCollection>() -> Publishers.Map<Self, RealmMapChange<T>>
    where Output == RealmMapChange<T> {
        map { change in change.map { $0.freeze() } }
    }

    /// The same values, which `receive(on:)` hands over to another place: there each is in the realm of that place. What was deleted meanwhile is left out.
    public func threadSafeReference() -> RealmPublishers.MakeThreadSafe<Self> where Output: ThreadConfined {
        RealmPublishers.MakeThreadSafe(upstream: self)
    }

    /// The same changes, which `receive(on:)` hands over to another place; see `threadSafeReference()`.
    public func threadSafeReference<T: Object>() -> RealmPublishers.MakeThreadSafeObjectChangeset<Self, T>
    where Output == ObjectChange<T> {
        RealmPublishers.MakeThreadSafeObjectChangeset(upstream: self)
    }

    /// The same changes, which `receive(on:)` hands over to another place; see `threadSafeReference()`.
    public func threadSafeReference<T: RealmCollection>() -> RealmPublishers.MakeThreadSafeCollectionChangeset<Self, T>
    where Output == RealmCollectionChange<T> {
        RealmPublishers.MakeThreadSafeCollectionChangeset(upstream: self)
    }
}

extension Publisher {
    /// Sends values on a scheduler in a form that any place may have, and from there on what is found by that.
    fileprivate func handedOver<S: Scheduler, Form>(
        on scheduler: S, _ options: S.SchedulerOptions?, by form: @escaping (Output) -> Form,
        found: @escaping (Form) -> Output?
    ) -> AnyPublisher<Output, Failure> {
        map(form).receive(on: scheduler, options: options).compactMap(found).eraseToAnyPublisher()
    }
}

/// Publishers that hand objects and collections over to another thread, queue or actor.
public enum RealmPublishers {
    /// Values that are handed over.
    public struct MakeThreadSafe<Upstream: Publisher>: Publisher where Upstream.Output: ThreadConfined {
        /// An object or a collection.
        public typealias Output = Upstream.Output
        /// Failures of the publisher.
        public typealias Failure = Upstream.Failure
        let upstream: Upstream

        /// Sends the values where they are published.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }

        /// Sends the values on a scheduler, each in the realm of its place.
        public func receive<S: Scheduler>(
            on scheduler: S, options: S.SchedulerOptions? = nil
        ) -> AnyPublisher<Output, Failure> {
            upstream.handedOver(on: scheduler, options, by: { ThreadSafeReference(to: $0) }, found: { $0.here })
        }
    }

    /// Changes of an object that are handed over.
    public struct MakeThreadSafeObjectChangeset<Upstream: Publisher, T: Object>: Publisher
    where Upstream.Output == ObjectChange<T> {
        /// A change.
        public typealias Output = ObjectChange<T>
        /// Failures of the publisher.
        public typealias Failure = Upstream.Failure
        let upstream: Upstream

        /// Sends the changes where they are published.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }

        /// Sends the changes on a scheduler, each with the object in the realm of its place.
        public func receive<S: Scheduler>(
            on scheduler: S, options: S.SchedulerOptions? = nil
        ) -> AnyPublisher<Output, Failure> {
            upstream.handedOver(
                on: scheduler, options, by: { $0.map { ThreadSafeReference(to: $0) } },
                found: { $0.compactMap(\.here) })
        }
    }

    /// Changes of a collection that are handed over.
    public struct MakeThreadSafeCollectionChangeset<Upstream: Publisher, T: RealmCollection>: Publisher
    where Upstream.Output == RealmCollectionChange<T> {
        /// A change.
        public typealias Output = RealmCollectionChange<T>
        /// Failures of the publisher.
        public typealias Failure = Upstream.Failure
        let upstream: Upstream

        /// Sends the changes where they are published.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }

        /// Sends the changes on a scheduler, each with the collection in the realm of its place.
        public func receive<S: Scheduler>(
            on scheduler: S, options: S.SchedulerOptions? = nil
        ) -> AnyPublisher<Output, Failure> {
            upstream.handedOver(
                on: scheduler, options, by: { $0.map { ThreadSafeReference(to: $0) } },
                found: { $0.compactMap(\.here) })
        }
    }
}
#endif

extension ThreadSafeReference {
    /// What the reference is to, in the realm of where the caller runs; nil if it is gone.
    var here: Confined? { Realm(instance: pointer.instance.here()).resolve(self) }
}
