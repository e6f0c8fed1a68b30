#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
/// What publishers follow: objects, projections and collections.
public protocol RealmSubscribable: ThreadConfined {}
extension Object: RealmSubscribable {}
extension EmbeddedObject: RealmSubscribable {}
extension Results: RealmSubscribable {}
extension List: RealmSubscribable {}
extension MutableSet: RealmSubscribable {}
extension Map: RealmSubscribable {}
extension LinkingObjects: RealmSubscribable {}
extension AnyRealmCollection: RealmSubscribable {}
extension SectionedResults: RealmSubscribable {}
extension ResultsSection: RealmSubscribable {}
extension Projection: RealmSubscribable {}

/// Publishes an app after its users have changed.
public typealias AppPublisher = RealmPublishers.Observation<App, Never>
/// Publishes a user after the app's users have changed.
public typealias UserPublisher = RealmPublishers.Observation<User, Never>

// Realm Swift has a type for each kind of thing that is observed, and others for what they are after `saveToken(on:at:)` and `receive(on:)`. Here they are one for what
// is observed and two for what is handed over; their names are the same.
extension RealmPublishers {
    /// Publishes an object, projection or collection each time that it has changed.
    public typealias Value<Subscribable: RealmSubscribable> = Observation<Subscribable, any Error>
    /// The same, with a token that was saved.
    public typealias ValueWithToken<Subscribable: RealmSubscribable, T> = Value<Subscribable>
    /// Publishes after each commit.
    public typealias RealmWillChange = Observation<Void, Never>
    /// The same, with a token that was saved.
    public typealias RealmWillChangeWithToken<T> = RealmWillChange
    /// Publishes after each change, despite the name, as Realm Swift does.
    public typealias WillChange<Collection: RealmSubscribable> = Observation<Void, Never>
    /// The same, with a token that was saved.
    public typealias WillChangeWithToken<Collection: RealmSubscribable, T> = WillChange<Collection>
    /// Publishes what changes in an object or projection.
    public typealias ObjectChangeset<O: ThreadConfined> = Observation<ObjectChange<O>, Never>
    /// The same, with a token that was saved.
    public typealias ObjectChangesetWithToken<O: ThreadConfined, T> = ObjectChangeset<O>
    /// Publishes what changes in a collection.
    public typealias CollectionChangeset<Collection: RealmCollection> = Observation<
        RealmCollectionChange<Collection>, Never
    >
    /// The same, with a token that was saved.
    public typealias CollectionChangesetWithToken<Collection: RealmCollection, T> = CollectionChangeset<Collection>
    /// Publishes what changes in a map.
    public typealias MapChangeset<Collection: RealmKeyedCollection> = Observation<RealmMapChange<Collection>, Never>
    /// The same, with a token that was saved.
    public typealias MapChangesetWithToken<Collection: RealmKeyedCollection, T> = MapChangeset<Collection>
    /// Publishes what changes in a collection with sections.
    public typealias SectionedResultsChangeset<Collection: RealmSectionedResult> = Observation<
        SectionedResultsChange<Collection>, Never
    >
    /// The same, with a token that was saved.
    public typealias SectionedResultsChangesetWithToken<Collection: RealmSectionedResult, T> =
        SectionedResultsChangeset<Collection>
    /// Publishes what changes in a section.
    public typealias SectionChangeset<Collection: RealmSectionedResult> = SectionedResultsChangeset<Collection>
    /// The same, with a token that was saved.
    public typealias SectionChangesetWithToken<Collection: RealmSectionedResult, T> = SectionChangeset<Collection>

    /// Changes of an object that `receive(on:)` hands over.
    public typealias MakeThreadSafeObjectChangeset<Upstream: Publisher, T> = MakeThreadSafe<Upstream>
    /// Changes of a collection that `receive(on:)` hands over.
    public typealias MakeThreadSafeCollectionChangeset<Upstream: Publisher, T> = MakeThreadSafe<Upstream>
    /// Changes of a map that `receive(on:)` hands over.
    public typealias MakeThreadSafeKeyedCollectionChangeset<Upstream: Publisher, T> = MakeThreadSafe<Upstream>
    /// Changes of a collection with sections that `receive(on:)` hands over.
    public typealias MakeThreadSafeSectionedResultsChangeset<Upstream: Publisher, T> = MakeThreadSafe<Upstream>

    /// Values that are handed over.
    public typealias DeferredHandover<Upstream: Publisher, S: Scheduler> = Handover<Upstream, S>
    /// Changes of an object that are handed over.
    public typealias DeferredHandoverObjectChangeset<Upstream: Publisher, T, S: Scheduler> = Handover<Upstream, S>
    /// Changes of a collection that are handed over.
    public typealias DeferredHandoverCollectionChangeset<Upstream: Publisher, T, S: Scheduler> = Handover<Upstream, S>
    /// Changes of a map that are handed over.
    public typealias DeferredHandoverKeyedCollectionChangeset<Upstream: Publisher, T, S: Scheduler> =
        Handover<Upstream, S>
    /// Changes of a collection with sections that are handed over.
    public typealias DeferredHandoverSectionedResultsChangeset<Upstream: Publisher, T, S: Scheduler> =
        Handover<Upstream, S>
    /// Changes of a section that are handed over.
    public typealias DeferredHandoverSectionChangeset<Upstream: Publisher, T, S: Scheduler> = Handover<Upstream, S>
}
#endif
