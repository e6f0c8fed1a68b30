internal import Dispatch

#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
// Values come where notifications come that name no queue: where the realm belongs, or on the main queue. What is unmanaged traps when somebody subscribes.
//
// The functions for objects stand in the documentation for those of the same names for projections and collections, which it could not tell apart.

extension Realm {
    /// A publisher that sends something after each commit.
    public var objectWillChange: RealmPublishers.RealmWillChange {
        RealmPublishers.Observation(endless: { queue, send in observe(on: queue) { _, _ in send(()) } })
    }

    /// A publisher that opens a realm after downloading what the server has.
    public static func asyncOpen(
        configuration: Configuration = .defaultConfiguration
    ) -> RealmPublishers.AsyncOpenPublisher {
        RealmPublishers.AsyncOpenPublisher(configuration: configuration)
    }
}

extension App: ObservableObject {
    /// A publisher of the app after its users have changed; see `subscribe(_:)`.
    public var objectWillChange: AppPublisher {
        RealmPublishers.Observation(endless: { [self] queue, send in
            core.userListeners.add { [self] in
                (queue ?? core.syncManager.callbackQueue).async { send(self) }
            }
        })
    }
}

extension User: ObservableObject {
    /// A publisher of the user after the app's users have changed; see `App.subscribe(_:)`.
    public var objectWillChange: UserPublisher {
        RealmPublishers.Observation(endless: { [self] queue, send in
            core.userListeners.add { [self] in
                (queue ?? core.syncManager.callbackQueue).async { send(self) }
            }
        })
    }
}

// MARK: - Collections

extension RealmPublishers.Observation where Output: RealmCollection, Failure == any Error {
    fileprivate init(_ collection: Output, _ keyPaths: [String]?) {
        self.init { queue, report in
            collection.observe(keyPaths: keyPaths, on: queue) { change in
                switch change {
                case .initial(let collection), .update(let collection, _, _, _): report(.value(collection))
                case .error(let error): report(.end(.failure(error)))
                }
            }
        }
    }
}

extension RealmCollection where Self: RealmSubscribable {
    /// A publisher that sends something now and after each commit that changes the collection.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: nil, on: queue) { _ in send(()) }
        })
    }

    /// A publisher of the collection, now and after each commit that changes it.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// A publisher of the collection, now and after each commit that changes it; see `observe(keyPaths:on:_:)` for the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Observation(self, keyPaths)
    }

    /// A publisher of the collection, and then of what each commit changes in it.
    public var changesetPublisher: RealmPublishers.CollectionChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// A publisher of the collection, and then of what each commit changes in it; see `observe(keyPaths:on:_:)` for the key paths.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.CollectionChangeset<Self> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: keyPaths, on: queue) { send($0) }
        })
    }
}

extension List: ObservableObject {
    /// What publishes changes.
    public typealias ObjectWillChangePublisher = RealmPublishers.WillChange<List<Element>>
}

extension MutableSet: ObservableObject {
    /// What publishes changes.
    public typealias ObjectWillChangePublisher = RealmPublishers.WillChange<MutableSet<Element>>
}

/// A publisher of a collection, now and after each commit that changes it.
@_documentation(visibility: internal)
public func valuePublisher<T: RealmCollection & RealmSubscribable>(
    _ collection: T, keyPaths: [String]? = nil
) -> RealmPublishers.Value<T> {
    collection.collectionPublisher(keyPaths: keyPaths)
}

/// A publisher of a collection, and then of what each commit changes in it.
@_documentation(visibility: internal)
public func changesetPublisher<T: RealmCollection & RealmSubscribable>(
    _ collection: T, keyPaths: [String]? = nil
) -> RealmPublishers.CollectionChangeset<T> {
    collection.changesetPublisher(keyPaths: keyPaths)
}

// MARK: - Maps

extension Map: ObservableObject {
    /// What publishes changes.
    public typealias ObjectWillChangePublisher = RealmPublishers.WillChange<Map<Key, Value>>
}

extension RealmKeyedCollection where Self: RealmSubscribable {
    /// A publisher that sends something now and after each commit that changes the map.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: nil, on: queue) { _ in send(()) }
        })
    }

    /// A publisher of the map, now and after each commit that changes it.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// A publisher of the map, now and after each commit that changes it; see `observe(keyPaths:on:_:)` for the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Observation { queue, report in
            self.observe(keyPaths: keyPaths, on: queue) { change in
                switch change {
                case .initial(let map), .update(let map, _, _, _): report(.value(map))
                case .error(let error): report(.end(.failure(error)))
                }
            }
        }
    }

    /// A publisher of the map, and then of what each commit changes in it.
    public var changesetPublisher: RealmPublishers.MapChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// A publisher of the map, and then of what each commit changes in it; see `observe(keyPaths:on:_:)` for the key paths.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.MapChangeset<Self> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: keyPaths, on: queue) { send($0) }
        })
    }
}

// MARK: - Sections

extension RealmSectionedResult where Self: RealmSubscribable {
    /// A publisher that sends something now and after each commit that changes the elements.
    public var objectWillChange: RealmPublishers.WillChange<Self> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: nil, on: queue) { _ in send(()) }
        })
    }

    /// A publisher of the elements, now and after each commit that changes them.
    public var collectionPublisher: RealmPublishers.Value<Self> { collectionPublisher(keyPaths: nil) }

    /// A publisher of the elements, now and after each commit that changes them; see `observe(keyPaths:on:_:)` for the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> RealmPublishers.Value<Self> {
        RealmPublishers.Observation { queue, report in
            self.observe(keyPaths: keyPaths, on: queue) { change in
                switch change {
                case .initial(let elements), .update(let elements, _, _, _, _, _): report(.value(elements))
                }
            }
        }
    }

    /// A publisher of the elements, and then of what each commit changes in them.
    public var changesetPublisher: RealmPublishers.SectionedResultsChangeset<Self> { changesetPublisher(keyPaths: nil) }

    /// A publisher of the elements, and then of what each commit changes in them; see `observe(keyPaths:on:_:)` for the key paths.
    public func changesetPublisher(keyPaths: [String]?) -> RealmPublishers.SectionedResultsChangeset<Self> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: keyPaths, on: queue) { send($0) }
        })
    }
}

// MARK: - Objects

extension Object: ObservableObject {
    /// A publisher that sends something after each commit that changes or deletes the object.
    public var objectWillChange: RealmPublishers.WillChange<Object> { willChange(self) }
}

extension EmbeddedObject: ObservableObject {
    /// A publisher that sends something after each commit that changes or deletes the object.
    public var objectWillChange: RealmPublishers.WillChange<EmbeddedObject> { willChange(self) }
}

extension Projection: ObservableObject {
    /// A publisher that sends something after each commit that changes what is projected of the object, or deletes the object.
    public var objectWillChange: RealmPublishers.WillChange<Projection<Root>> {
        RealmPublishers.Observation(endless: { queue, send in
            self.observe(keyPaths: nil, on: queue) { _ in send(()) }
        })
    }
}

private func willChange<T: _ObservableObject>(_ object: T) -> RealmPublishers.Observation<Void, Never> {
    RealmPublishers.Observation(endless: { queue, send in
        object.observe(keyPaths: nil, on: queue) { (_: ObjectChange<T>) in send(()) }
    })
}

extension RealmPublishers.Observation where Failure == any Error {
    /// The objects of changes, to the end of the object.
    fileprivate init(
        ofChanges observe:
            @escaping (DispatchQueue?, @escaping @Sendable (ObjectChange<Output>) -> Void) -> NotificationToken
    ) {
        self.init { queue, report in
            observe(queue) { change in
                switch change {
                case .change(let object, _): report(.value(object))
                case .deleted: report(.end(.finished))
                case .error(let error): report(.end(.failure(error)))
                }
            }
        }
    }
}

extension RealmPublishers.Observation where Failure == Never {
    /// Changes of an object, to its end. Like Realm's, such publishers finish with the object, and do not say that it was deleted.
    fileprivate init<T>(
        changes observe: @escaping (DispatchQueue?, @escaping @Sendable (ObjectChange<T>) -> Void) -> NotificationToken
    ) where Output == ObjectChange<T> {
        self.init { queue, report in
            observe(queue) { change in
                if case .deleted = change { report(.end(.finished)) } else { report(.value(change)) }
            }
        }
    }
}

/// A publisher of an object or projection after each commit that changes it; it finishes when the object is deleted. That of a collection sends it at once, too.
public func valuePublisher<T: _ObservableObject & RealmSubscribable>(
    _ object: T, keyPaths: [String]? = nil
) -> RealmPublishers.Value<T> {
    RealmPublishers.Observation(ofChanges: { queue, send in
        object.observe(keyPaths: keyPaths, on: queue) { (change: ObjectChange<T>) in send(change) }
    })
}

/// A publisher of a projection after each commit that changes what it shows; it finishes when the object is deleted.
@_documentation(visibility: internal)
public func valuePublisher<T: ProjectionObservable & RealmSubscribable>(
    _ projection: T, keyPaths: [String]? = nil
) -> RealmPublishers.Value<T> {
    RealmPublishers.Observation(ofChanges: { queue, send in
        projection.observe(keyPaths: keyPaths, on: queue) { send($0) }
    })
}

/// A publisher of what each commit changes in an object or projection, which finishes when the object is deleted; or of what each changes in a collection.
public func changesetPublisher<T: _ObservableObject & ThreadConfined>(
    _ object: T, keyPaths: [String]? = nil
) -> RealmPublishers.ObjectChangeset<T> {
    RealmPublishers.Observation(changes: { queue, send in
        object.observe(keyPaths: keyPaths, on: queue) { (change: ObjectChange<T>) in send(change) }
    })
}

/// A publisher of what each commit changes in what a projection shows; it finishes when the object is deleted.
@_documentation(visibility: internal)
public func changesetPublisher<T: ProjectionObservable>(
    _ projection: T, keyPaths: [String]? = nil
) -> RealmPublishers.ObjectChangeset<T> {
    RealmPublishers.Observation(changes: { queue, send in
        projection.observe(keyPaths: keyPaths, on: queue) { send($0) }
    })
}
#endif
