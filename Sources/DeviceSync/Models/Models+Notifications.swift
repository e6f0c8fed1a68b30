internal import Changesets
public import Dispatch
internal import RealmState
internal import Synchronization

extension ObjectBase {
    /// An object and what is known of it where it is looked at again.
    fileprivate func observed<T: ObjectBase>(
        as _: T.Type, _ keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping @Sendable (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        guard let handle else {
            preconditionFailure("only an object of a realm can be observed; this one is unmanaged")
        }
        let names = keyPaths?.map { ModelSchema.of(T.self)[$0]?.name.string ?? $0 }
        // Objects do not go from one queue to another: each call gets one of its own.
        return handle.observe(names, on: queue) { change in
            switch change {
            case .deleted: block(.deleted)
            case .changed(let properties): block(.change(T.managed(handle), properties))
            }
        }
    }
}

/// An object of a model class that can be observed.
public protocol _ObservableObject: ObjectBase {}
extension Object: _ObservableObject {}
extension EmbeddedObject: _ObservableObject {}

extension _ObservableObject {
    /// Calls `block` after each commit that changes or deletes the object, on the queue given or else on the main queue.
    ///
    /// Old and new values are those of scalars; a link's are `DynamicObject`s. An unmanaged or frozen object traps.
    /// - Parameter keyPaths: the properties, by name, whose changes are reported; nil for all.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observed(as: Self.self, keyPaths, on: queue, block)
    }

    /// Calls `block` after each commit that changes one of the properties, or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observed(as: Self.self, keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }
}

extension Results where Element: Object {
    /// Calls `block` with the collection now and after each commit that changes it. Changes of the named properties alone count as modifications.
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }
}

extension RealmCollectionChange {
    fileprivate init(_ collection: CollectionType, _ positions: PositionDifference?) {
        guard let positions else {
            self = .initial(collection)
            return
        }
        self = .update(
            collection, deletions: positions.deletions, insertions: positions.insertions,
            modifications: positions.modifications)
    }
}

extension List {
    /// Calls `block` with the list now, and after each commit that changes it or the objects that it links to, on the queue given or else on the main queue. An
    /// unmanaged or frozen list traps.
    public func observe(
        on queue: DispatchQueue? = nil, _ block: @escaping @Sendable (RealmCollectionChange<List<Element>>) -> Void
    ) -> NotificationToken {
        guard let field else { preconditionFailure("only a list of a realm can be observed; this one is unmanaged") }
        return field.observe(on: queue) { block(RealmCollectionChange(List(.managed(field)), $0)) }
    }
}

extension MutableSet {
    /// Calls `block` with the set now, and after each commit that changes it or the objects that it links to, on the queue given or else on the main queue. An
    /// unmanaged or frozen set traps.
    public func observe(
        on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<MutableSet<Element>>) -> Void
    ) -> NotificationToken {
        guard let field else { preconditionFailure("only a set of a realm can be observed; this one is unmanaged") }
        return field.observe(on: queue) { block(RealmCollectionChange(MutableSet(.managed(field)), $0)) }
    }
}

extension LinkingObjects {
    /// Calls `block` with the objects now, and after each commit that changes which they are or what they hold, on the queue given or else on the main queue. What
    /// links to an unmanaged object traps.
    public func observe(
        on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        _results.observe(on: queue, block)
    }
}

/// What happened to an observed map.
@frozen public enum RealmMapChange<MapType> {
    /// The first notification: the map as it is.
    case initial(MapType)
    /// A change, by keys.
    case update(MapType, deletions: [String], insertions: [String], modifications: [String])
    /// Observing failed.
    case error(any Error)
}

extension Map {
    /// Calls `block` with the map now, and after each commit that changes it, on the queue given or else on the main queue. An unmanaged or frozen map traps.
    public func observe(
        on queue: DispatchQueue? = nil, _ block: @escaping @Sendable (RealmMapChange<Map<Key, Value>>) -> Void
    ) -> NotificationToken {
        guard let field else { preconditionFailure("only a map of a realm can be observed; this one is unmanaged") }
        precondition(!field.instance.isFrozen && field.exists, "only a live map of a realm can be observed")
        let core = field.instance.core
        let last = Mutex<[String: RealmValue]?>(nil)
        return core.observers.add(on: queue ?? .main, initial: { core.snapshot }) { snapshot, _ in
            guard case .dictionary(let entries)? = snapshot.state.value(at: field.address) else { return }
            let new = Dictionary(entries.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
            let previous = last.withLock { last in
                defer { last = new }
                return last
            }
            let map = Map(.managed(field))
            guard let previous else { return block(.initial(map)) }
            guard previous != new else { return }
            block(
                .update(
                    map, deletions: previous.keys.filter { new[$0] == nil }.sorted(),
                    insertions: new.keys.filter { previous[$0] == nil }.sorted(),
                    modifications: new.keys.filter { previous[$0] != nil && previous[$0] != new[$0] }.sorted()
                ))
        }
    }
}
