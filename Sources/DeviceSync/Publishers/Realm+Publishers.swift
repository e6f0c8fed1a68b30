#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
// Values come where notifications come that name no queue: where the realm belongs, or on the main queue.

extension Realm {
    /// A publisher that sends something after each commit.
    public var objectWillChange: AnyPublisher<Void, Never> {
        AnyPublisher(TokenPublisher { send in observe { _, _ in send(()) } })
    }
}

extension Results {
    /// A publisher of the collection, now and after each commit that changes it.
    public var collectionPublisher: AnyPublisher<Results<Element>, Never> { collectionPublisher(keyPaths: nil) }

    /// A publisher of the collection, now and after each commit that changes it; see `observe(keyPaths:on:_:)` for the key paths.
    public func collectionPublisher(keyPaths: [String]?) -> AnyPublisher<Results<Element>, Never> {
        AnyPublisher(TokenPublisher { send in observe(keyPaths: keyPaths) { if let it = $0.collection { send(it) } } })
    }

    /// A publisher of the collection, and then of what each commit changes in it.
    public var changesetPublisher: AnyPublisher<RealmCollectionChange<Results<Element>>, Never> {
        changesetPublisher(keyPaths: nil)
    }

    /// A publisher of the collection, and then of what each commit changes in it; see `observe(keyPaths:on:_:)` for the key paths.
    public func changesetPublisher(keyPaths: [String]?) -> AnyPublisher<RealmCollectionChange<Results<Element>>, Never>
    {
        AnyPublisher(TokenPublisher { send in observe(keyPaths: keyPaths) { send($0) } })
    }
}

extension RealmCollection where Self: _PropertyCollection {
    /// A publisher of the collection, now and after each commit that changes it. An unmanaged one traps.
    public var collectionPublisher: AnyPublisher<Self, Never> {
        AnyPublisher(TokenPublisher { send in self.observe { if let it = $0.collection { send(it) } } })
    }

    /// A publisher of the collection, and then of what each commit changes in it. An unmanaged one traps.
    public var changesetPublisher: AnyPublisher<RealmCollectionChange<Self>, Never> {
        AnyPublisher(TokenPublisher { send in self.observe { send($0) } })
    }
}

extension LinkingObjects {
    /// A publisher of the objects, now and after each commit that changes them.
    public var collectionPublisher: AnyPublisher<Results<Element>, Never> { _results.collectionPublisher }

    /// A publisher of the objects, and then of what each commit changes in them.
    public var changesetPublisher: AnyPublisher<RealmCollectionChange<Results<Element>>, Never> {
        _results.changesetPublisher
    }
}

extension RealmCollectionChange {
    fileprivate var collection: CollectionType? {
        switch self {
        case .initial(let collection), .update(let collection, _, _, _): collection
        case .error: nil
        }
    }
}

/// A publisher of an object after each commit that changes it; it finishes when the object is deleted. An unmanaged object traps.
public func valuePublisher<T: _ObservableObject>(
    _ object: T, keyPaths: [String]? = nil
) -> AnyPublisher<T, Never> {
    AnyPublisher(
        changesetPublisher(object, keyPaths: keyPaths).prefix(while: { if case .deleted = $0 { false } else { true } })
            .compactMap { if case .change(let object, _) = $0 { object } else { nil } })
}

/// A publisher of what each commit changes in an object. An unmanaged object traps.
public func changesetPublisher<T: _ObservableObject>(
    _ object: T, keyPaths: [String]? = nil
) -> AnyPublisher<ObjectChange<T>, Never> {
    AnyPublisher(
        TokenPublisher { send in object.observe(keyPaths: keyPaths) { (change: ObjectChange<T>) in send(change) } })
}
#endif
