#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

// Objects and collections that a publisher sends go elsewhere frozen, or by a reference.

/// Takes something that speaks of an object or collection of a realm to another place, where calling it gives the same as that place's realm shows it; nil if it was
/// deleted meanwhile. What is frozen or unmanaged goes as it is.
typealias Parcel<Contents> = () -> Contents?

/// Makes parcels.
enum Parcels {
    static func pack<T: ThreadConfined>(_ confined: T) -> Parcel<T> {
        guard confined.realm != nil, !confined.isFrozen else { return { confined } }
        guard !confined.isInvalidated else { return { nil } }
        let reference = ThreadSafeReference(to: confined)
        return { reference.here }
    }

    static func pack<T: ThreadConfined>(_ change: ObjectChange<T>) -> Parcel<ObjectChange<T>> {
        let packed = change.map { pack($0) }
        return {
            switch packed {
            case .change(let object, let properties): object().map { .change($0, properties) }
            case .deleted: .deleted
            case .error(let error): .error(error)
            }
        }
    }

    static func pack<T: ThreadConfined>(_ change: RealmCollectionChange<T>) -> Parcel<RealmCollectionChange<T>> {
        let packed = change.map { pack($0) }
        return {
            switch packed {
            case .initial(let collection): collection().map { .initial($0) }
            case .update(let collection, let deletions, let insertions, let modifications):
                collection().map {
                    .update($0, deletions: deletions, insertions: insertions, modifications: modifications)
                }
            case .error(let error): .error(error)
            }
        }
    }

    static func pack<T: ThreadConfined>(_ change: RealmMapChange<T>) -> Parcel<RealmMapChange<T>> {
        let packed = change.map { pack($0) }
        return {
            switch packed {
            case .initial(let map): map().map { .initial($0) }
            case .update(let map, let deletions, let insertions, let modifications):
                map().map { .update($0, deletions: deletions, insertions: insertions, modifications: modifications) }
            case .error(let error): .error(error)
            }
        }
    }

    static func pack<T: ThreadConfined>(_ change: SectionedResultsChange<T>) -> Parcel<SectionedResultsChange<T>> {
        let packed = change.map { pack($0) }
        return {
            switch packed {
            case .initial(let sections): sections().map { .initial($0) }
            case .update(
                let sections, let deletions, let insertions, let modifications, let inserted, let deleted):
                sections().map {
                    .update(
                        $0, deletions: deletions, insertions: insertions, modifications: modifications,
                        sectionsToInsert: inserted, sectionsToDelete: deleted)
                }
            }
        }
    }
}

extension ThreadSafeReference {
    /// What the reference is to, in the realm of where the caller runs; nil if it is gone.
    var here: Confined? { Realm(instance: pointer.instance.here()).resolve(self) }
}

#if canImport(Combine) || OpenCombine
extension RealmPublishers {
    /// Values and changes that `receive(on:)` hands over.
    public struct MakeThreadSafe<Upstream: Publisher>: Publisher {
        /// An object, a collection, or a change of one.
        public typealias Output = Upstream.Output
        /// Failures of the publisher.
        public typealias Failure = Upstream.Failure
        let upstream: Upstream
        let pack: (Output) -> Parcel<Output>

        /// Sends everything where it is published.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            upstream.receive(subscriber: subscriber)
        }

        /// Sends everything on a scheduler, each in the realm of its place.
        public func receive<S: Scheduler>(
            on scheduler: S, options: S.SchedulerOptions? = nil
        ) -> Handover<Upstream, S> {
            Handover(upstream: upstream, scheduler: scheduler, options: options, pack: pack)
        }
    }

    /// Values and changes that are handed over to a scheduler. What was deleted meanwhile is left out.
    public struct Handover<Upstream: Publisher, S: Scheduler>: Publisher {
        /// An object, a collection, or a change of one.
        public typealias Output = Upstream.Output
        /// Failures of the publisher.
        public typealias Failure = Upstream.Failure
        let upstream: Upstream
        let scheduler: S
        let options: S.SchedulerOptions?
        let pack: (Output) -> Parcel<Output>

        /// Sends everything on the scheduler.
        public func receive<Target: Subscriber>(
            subscriber: Target
        ) where Target.Input == Output, Target.Failure == Failure {
            // From here on, code on the queue finds out that it runs there, and has the queue's realm.
            _ = RealmPublishers.knownQueue(scheduler).flatMap { Confinement($0) }
            upstream.map(pack).receive(on: scheduler, options: options).compactMap { $0() }
                .receive(subscriber: subscriber)
        }
    }
}

extension RealmPublishers.Observation where Output: ThreadConfined {
    /// The same values on a scheduler, each in the realm of its place.
    public func receive<S: Scheduler>(on scheduler: S) -> RealmPublishers.Handover<Self, S> {
        threadSafeReference().receive(on: scheduler)
    }
}

extension RealmPublishers.Observation {
    /// The same changes on a scheduler, each with the object in the realm of its place.
    public func receive<S: Scheduler, T: ThreadConfined>(
        on scheduler: S
    ) -> RealmPublishers.Handover<Self, S> where Output == ObjectChange<T> {
        threadSafeReference().receive(on: scheduler)
    }

    /// The same changes on a scheduler, each with the collection in the realm of its place.
    public func receive<S: Scheduler, T: RealmCollection>(
        on scheduler: S
    ) -> RealmPublishers.Handover<Self, S> where Output == RealmCollectionChange<T> {
        threadSafeReference().receive(on: scheduler)
    }

    /// The same changes on a scheduler, each with the map in the realm of its place.
    public func receive<S: Scheduler, T: RealmKeyedCollection>(
        on scheduler: S
    ) -> RealmPublishers.Handover<Self, S> where Output == RealmMapChange<T> {
        threadSafeReference().receive(on: scheduler)
    }

    /// The same changes on a scheduler, each with the sections in the realm of its place.
    public func receive<S: Scheduler, T: RealmSectionedResult>(
        on scheduler: S
    ) -> RealmPublishers.Handover<Self, S> where Output == SectionedResultsChange<T> {
        threadSafeReference().receive(on: scheduler)
    }
}

extension Publisher {
    // MARK: Frozen

    /// The same values, frozen: they can be used anywhere.
    public func freeze<T: ThreadConfined>() -> Publishers.Map<Self, T> where Output == T { map { $0.freeze() } }

    /// The same changes, of frozen objects.
    public func freeze<T: ThreadConfined>() -> Publishers.Map<Self, ObjectChange<T>> where Output == ObjectChange<T> {
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

    /// The same changes, of frozen sections.
    public func freeze<T: RealmSectionedResult>() -> Publishers.Map<Self, SectionedResultsChange<T>>
    where Output == SectionedResultsChange<T> {
        map { change in change.map { $0.freeze() } }
    }

    // MARK: Handed over

    /// The same values, which `receive(on:)` hands over to another place: there each is in the realm of that place. What was deleted meanwhile is left out.
    public func threadSafeReference() -> RealmPublishers.MakeThreadSafe<Self> where Output: ThreadConfined {
        RealmPublishers.MakeThreadSafe(upstream: self) { Parcels.pack($0) }
    }

    /// The same changes, which `receive(on:)` hands over to another place; see `threadSafeReference()`.
    public func threadSafeReference<T: ThreadConfined>() -> RealmPublishers.MakeThreadSafeObjectChangeset<Self, T>
    where Output == ObjectChange<T> {
        RealmPublishers.MakeThreadSafe(upstream: self) { Parcels.pack($0) }
    }

    /// The same changes, which `receive(on:)` hands over to another place; see `threadSafeReference()`.
    public func threadSafeReference<T: RealmCollection>() -> RealmPublishers.MakeThreadSafeCollectionChangeset<Self, T>
    where Output == RealmCollectionChange<T> {
        RealmPublishers.MakeThreadSafe(upstream: self) { Parcels.pack($0) }
    }

    /// The same changes, which `receive(on:)` hands over to another place; see `threadSafeReference()`.
    public func threadSafeReference<T: RealmKeyedCollection>()
        -> RealmPublishers.MakeThreadSafeKeyedCollectionChangeset<Self, T> where Output == RealmMapChange<T>
    {
        RealmPublishers.MakeThreadSafe(upstream: self) { Parcels.pack($0) }
    }

    /// The same changes, which `receive(on:)` hands over to another place; see `threadSafeReference()`.
    public func threadSafeReference<T: RealmSectionedResult>()
        -> RealmPublishers.MakeThreadSafeSectionedResultsChangeset<Self, T> where Output == SectionedResultsChange<T>
    {
        RealmPublishers.MakeThreadSafe(upstream: self) { Parcels.pack($0) }
    }
}
#endif
