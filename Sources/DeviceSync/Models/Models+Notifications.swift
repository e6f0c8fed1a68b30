internal import Changesets
public import Dispatch
internal import RealmState
internal import Synchronization

// All of these call their blocks on the queue or actor that they name, else where the realm belongs: on its queue, on its actor, or on the main queue if neither. Objects
// and collections do not go from one place to another: each block gets ones that it can use.

/// An object of a model class that can be observed.
public protocol _ObservableObject: ObjectBase {}
extension Object: _ObservableObject {}
extension EmbeddedObject: _ObservableObject {}

extension _ObservableObject {
    private func observed(
        _ keyPaths: [String]?, at place: DeliveryPlace? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectHandle, HandleChange) -> Void
    ) -> NotificationToken {
        guard let handle else {
            preconditionFailure("only an object of a realm can be observed; this one is unmanaged")
        }
        let names = keyPaths?.map { ModelSchema.of(Self.self)[$0]?.name.string ?? $0 }
        return handle.observe(names, at: place ?? handle.instance.deliveryPlace(queue), block)
    }

    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace, _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observed(keyPaths, at: place) { block(Self.change($0, $1)) }
    }

    private static func change(_ handle: ObjectHandle, _ change: HandleChange) -> ObjectChange<Self> {
        switch change {
        case .deleted: .deleted
        case .changed(let properties): .change(managed(handle), properties)
        }
    }

    /// Calls `block` after each commit that changes or deletes the object, on the queue given or else where the realm belongs.
    ///
    /// Old and new values are those of scalars; a link's are `DynamicObject`s. An unmanaged or frozen object traps.
    /// - Parameter keyPaths: the properties whose changes are reported, of the object or of what it links to as in `home.city`; nil for all of the object itself.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observed(keyPaths, on: queue) { block(Self.change($0, $1)) }
    }

    /// Calls `block` after each commit that changes one of the properties, or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }

    /// Calls `block` on an actor after each commit that changes or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        observed(keyPaths, at: .actor(actor)) { handle, change in
            actor.assumeIsolated { block($0, Self.change(handle, change)) }
        }
    }

    /// Calls `block` on an actor after each commit that changes one of the properties, or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: actor, block)
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

    /// Calls `block` on an actor with the collection now and after each commit that changes it. Changes of the named properties alone count as modifications.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Results<Element>>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: actor, block)
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
    private var observable: _Field {
        guard let field else { preconditionFailure("only a list of a realm can be observed; this one is unmanaged") }
        return field
    }

    /// Calls `block` with the list now, and after each commit that changes it or the objects that it links to, on the queue given or else where the realm belongs. An
    /// unmanaged or frozen list traps.
    /// - Parameter keyPaths: the properties of the objects whose changes count; nil for all.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<List<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: observable.instance.deliveryPlace(queue), block)
    }

    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (RealmCollectionChange<List<Element>>) -> Void
    ) -> NotificationToken {
        observable.observe(keyPaths, at: place) { block(RealmCollectionChange(List(.managed($0)), $1)) }
    }

    /// Calls `block` on an actor with the list now, and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<List<Element>>) -> Void
    ) async -> NotificationToken {
        observable.observe(keyPaths, at: .actor(actor)) { field, positions in
            actor.assumeIsolated { block($0, RealmCollectionChange(List(.managed(field)), positions)) }
        }
    }
}

extension MutableSet {
    private var observable: _Field {
        guard let field else { preconditionFailure("only a set of a realm can be observed; this one is unmanaged") }
        return field
    }

    /// Calls `block` with the set now, and after each commit that changes it or the objects that it links to, on the queue given or else where the realm belongs. An
    /// unmanaged or frozen set traps.
    /// - Parameter keyPaths: the properties of the objects whose changes count; nil for all.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<MutableSet<Element>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: observable.instance.deliveryPlace(queue), block)
    }

    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (RealmCollectionChange<MutableSet<Element>>) -> Void
    ) -> NotificationToken {
        observable.observe(keyPaths, at: place) { block(RealmCollectionChange(MutableSet(.managed($0)), $1)) }
    }

    /// Calls `block` on an actor with the set now, and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<MutableSet<Element>>) -> Void
    ) async -> NotificationToken {
        observable.observe(keyPaths, at: .actor(actor)) { field, positions in
            actor.assumeIsolated { block($0, RealmCollectionChange(MutableSet(.managed(field)), positions)) }
        }
    }
}

extension LinkingObjects {
    /// Calls `block` with the objects now, and after each commit that changes which they are or what they hold, on the queue given or else where the realm belongs.
    /// What links to an unmanaged object traps.
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Results<Element>>) -> Void
    ) -> NotificationToken {
        _results.observe(keyPaths: keyPaths, on: queue, block)
    }

    /// Calls `block` on an actor with the objects now, and after each commit that changes them; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Results<Element>>) -> Void
    ) async -> NotificationToken {
        await _results.observe(keyPaths: keyPaths, on: actor, block)
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

/// The keys of a map that differ.
private struct KeyDifference: Sendable {
    let deletions: [String]
    let insertions: [String]
    let modifications: [String]

    init(from old: [String: RealmValue], to new: [String: RealmValue]) {
        deletions = old.keys.filter { new[$0] == nil }.sorted()
        insertions = new.keys.filter { old[$0] == nil }.sorted()
        modifications = new.keys.filter { old[$0] != nil && old[$0] != new[$0] }.sorted()
    }
}

extension Map {
    /// Calls `block` with the map now, and after each commit that changes it, on the queue given or else where the realm belongs. An unmanaged or frozen map traps.
    public func observe(
        on queue: DispatchQueue? = nil, _ block: @escaping @Sendable (RealmMapChange<Map<Key, Value>>) -> Void
    ) -> NotificationToken {
        observed(at: observable.instance.deliveryPlace(queue)) { block(Self.change($0, $1)) }
    }

    /// Calls `block` on an actor with the map now, and after each commit that changes it; see `observe(on:_:)`.
    public func observe<A: Actor>(
        on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmMapChange<Map<Key, Value>>) -> Void
    ) async -> NotificationToken {
        observed(at: .actor(actor)) { field, difference in
            actor.assumeIsolated { block($0, Self.change(field, difference)) }
        }
    }

    private static func change(_ field: _Field, _ difference: KeyDifference?) -> RealmMapChange<Map<Key, Value>> {
        let map = Map(.managed(field))
        guard let difference else { return .initial(map) }
        return .update(
            map, deletions: difference.deletions, insertions: difference.insertions,
            modifications: difference.modifications)
    }

    private var observable: _Field {
        guard let field else { preconditionFailure("only a map of a realm can be observed; this one is unmanaged") }
        return field
    }

    private func observed(
        at place: DeliveryPlace, _ block: @escaping @Sendable (_Field, KeyDifference?) -> Void
    ) -> NotificationToken {
        let field = observable
        precondition(!field.instance.isFrozen && field.exists, "only a live map of a realm can be observed")
        let there = field.moved(to: field.instance.delivered(at: place))
        let (core, address) = (field.instance.core, field.address)
        let last = Mutex<[String: RealmValue]?>(nil)
        return core.observers.add(on: place, initial: { core.snapshot }) { snapshot, _ in
            guard let value = snapshot.state.value(at: address) else { return }
            // Of a map that was an `AnyRealmValue` nothing is left where another value is.
            let entries = if case .dictionary(let entries) = value { entries } else { [:] as [ByteString: RealmValue] }
            let new = Dictionary(entries.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
            let previous = last.withLock { last in
                defer { last = new }
                return last
            }
            guard let previous else { return block(there, nil) }
            if previous != new { block(there, KeyDifference(from: previous, to: new)) }
        }
    }
}
