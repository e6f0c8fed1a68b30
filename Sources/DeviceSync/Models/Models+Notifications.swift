internal import Changesets
public import Dispatch
internal import RealmState
internal import Synchronization

// The functions in this file call their blocks on the queue or actor that they are given; without one, they do so where the realm belongs: on its queue, on its
// actor, or on the main queue if the realm has neither. Objects and collections do not go from one place to another: each block gets ones that it can use.

/// An object of a model class that can be observed.
public protocol _ObservableObject: ObjectBase {}
extension Object: _ObservableObject {}
extension EmbeddedObject: _ObservableObject {}

extension ObjectChange<ObjectHandle> {
    /// The same change of a typed object: what links lead to are typed objects, too.
    fileprivate func typed<Typed>(_ transform: (ObjectHandle) -> Typed) -> ObjectChange<Typed> {
        switch self {
        case .error(let error): .error(error)
        case .change(let handle, let properties): .change(transform(handle), properties.map(\.typed))
        case .deleted: .deleted
        }
    }
}

extension PropertyChange {
    fileprivate var typed: PropertyChange {
        func typed(_ value: Any?) -> Any? { (value as? DynamicObject)?.object ?? value }
        return PropertyChange(name: name, oldValue: typed(oldValue), newValue: typed(newValue))
    }
}

extension _ObservableObject {
    private func observed(
        _ keyPaths: [String]?, at place: DeliveryPlace? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<ObjectHandle>) -> Void
    ) -> NotificationToken {
        guard let handle else {
            preconditionFailure("only an object of a realm can be observed; this one is unmanaged")
        }
        let names = keyPaths?.map { ModelSchema.of(type(of: self))[$0]?.name.string ?? $0 }
        return handle.observe(names, at: place ?? handle.instance.deliveryPlace(queue), block)
    }

    /// The observed object itself where it belongs, and elsewhere objects of its own class, which may be a subclass of what the program knows it as.
    private var made: @Sendable (ObjectHandle) -> Self {
        let (type, own) = (type(of: self), handle)
        // Handed out only where its realm belongs, which is where the caller has it.
        nonisolated(unsafe) let observed = self
        return { handle in
            if let own, own.instance === handle.instance, own == handle { return observed }
            return type.managed(handle)
        }
    }

    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace, _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let made = made
        return observed(keyPaths, at: place) { change in block(change.typed(made)) }
    }

    /// Calls `block` after each commit that changes or deletes the object, on the queue given or else where the realm belongs.
    ///
    /// Old and new values are those of scalars and links; a link's are objects of their classes, without a model `Object`s. An unmanaged or frozen object traps.
    /// - Parameter keyPaths: the properties whose changes are reported, of the object or of what it links to as in `home.city`; nil for all of the object itself.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let made = made
        return observed(keyPaths, on: queue) { change in block(change.typed(made)) }
    }

    /// Calls `block` after each commit that changes or deletes the object, which the block knows as another of its classes; see `observe(keyPaths:on:_:)`.
    @preconcurrency @_disfavoredOverload
    public func observe<T: ObjectBase>(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        let made = made
        return observed(keyPaths, on: queue) { change in
            block(
                change.typed { handle in
                    guard let object = made(handle) as? T else {
                        preconditionFailure("a \(handle.className) object cannot be observed as \(T.self)")
                    }
                    return object
                })
        }
    }

    /// Calls `block` after each commit that changes one of the properties, or deletes the object; see `observe(keyPaths:on:_:)`.
    @preconcurrency
    public func observe<T: ObjectBase>(
        keyPaths: [PartialKeyPath<T>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<T>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }

    /// Calls `block` on an actor after each commit that changes or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let made = made
        return .unlessCancelled {
            observed(keyPaths, at: .actor(actor)) { change in
                actor.assumeIsolated { block($0, change.typed(made)) }
            }
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

extension RealmCollection where Self: _PropertyCollection {
    /// Calls `block` with the collection now, and after each commit that changes it or the objects that it links to, on the queue given or else where the realm belongs. An
    /// unmanaged or frozen collection traps.
    /// - Parameter keyPaths: the properties of the objects whose changes count; nil for all.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths, at: field(toBe: "observed").instance.deliveryPlace(queue), block)
    }

    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        field(toBe: "observed").observe(keyPaths, at: place) { field, positions in
            block(RealmCollectionChange(Self._read(field, holding: nil), positions))
        }
    }

    /// Calls `block` on an actor with the collection now, and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        .unlessCancelled {
            field(toBe: "observed").observe(keyPaths, at: .actor(actor)) { field, positions in
                actor.assumeIsolated { block($0, RealmCollectionChange(Self._read(field, holding: nil), positions)) }
            }
        }
    }
}

extension LinkingObjects {
    /// Calls `block` with the objects now, and after each commit that changes which they are or what they hold, on the queue given or else where the realm belongs.
    /// What links to an unmanaged object traps.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) -> NotificationToken {
        let field = field
        return _results.observe(keyPaths: keyPaths, on: queue) { change in
            block(change.map { results in LinkingObjects(field: field?.moved(to: results.instance)) })
        }
    }

    /// Calls `block` on an actor with the objects now, and after each commit that changes them; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<LinkingObjects<Element>>) -> Void
    ) async -> NotificationToken {
        let field = field
        return await _results.observe(keyPaths: keyPaths, on: actor) { actor, change in
            block(actor, change.map { results in LinkingObjects(field: field?.moved(to: results.instance)) })
        }
    }
}

/// A change of an observed map.
@frozen public enum RealmMapChange<MapType> {
    /// The first notification: the map as it is.
    case initial(MapType)
    /// A change, by keys.
    case update(MapType, deletions: [String], insertions: [String], modifications: [String])
    /// Observing failed.
    case error(any Error)
}

extension RealmMapChange: Sendable where MapType: Sendable {}

extension RealmMapChange {
    /// - Parameters:
    ///   - old: the entries that were reported before; nil the first time.
    ///   - isModified: whether a value that is in both has changed.
    fileprivate init(
        _ map: MapType, from old: [String: RealmValue], to new: [String: RealmValue],
        isModified: (RealmValue) -> Bool
    ) {
        self = .update(
            map, deletions: old.keys.filter { new[$0] == nil }.sorted(),
            insertions: new.keys.filter { old[$0] == nil }.sorted(),
            modifications: new.filter { key, value in
                old[key].map { $0 != value || isModified(value) } ?? false
            }.keys.sorted())
    }

    fileprivate var isEmpty: Bool {
        if case .update(_, let deletions, let insertions, let modifications) = self {
            deletions.isEmpty && insertions.isEmpty && modifications.isEmpty
        } else {
            false
        }
    }

    func map<Other>(_ transform: (MapType) -> Other) -> RealmMapChange<Other> {
        switch self {
        case .initial(let map): .initial(transform(map))
        case .update(let map, let deletions, let insertions, let modifications):
            .update(transform(map), deletions: deletions, insertions: insertions, modifications: modifications)
        case .error(let error): .error(error)
        }
    }
}

extension Map {
    /// Calls `block` with the map now, and after each commit that changes it or the objects that it links to, on the queue given or else where the realm belongs. An
    /// unmanaged or frozen map traps.
    /// - Parameter keyPaths: the properties of the objects whose changes count, of what they link to as in `owner.name`; nil for all.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmMapChange<Map<Key, Value>>) -> Void
    ) -> NotificationToken {
        observed(keyPaths, at: field(toBe: "observed").instance.deliveryPlace(queue)) { change in
            block(change.map { Map(.managed($0)) })
        }
    }

    /// Calls `block` on an actor with the map now, and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmMapChange<Map<Key, Value>>) -> Void
    ) async -> NotificationToken {
        observed(keyPaths, at: .actor(actor)) { change in
            actor.assumeIsolated { block($0, change.map { Map(.managed($0)) }) }
        }
    }

    private func observed(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (RealmMapChange<_Field>) -> Void
    ) -> NotificationToken {
        let field = field(toBe: "observed")
        precondition(!field.instance.isFrozen && field.exists, "only a live map of a realm can be observed")
        let there = field.moved(to: field.instance.delivered(at: place))
        let (core, address, className) = (field.instance.core, field.address, field.elementClass)
        let observed = ObservedProperties(keyPaths, className, in: field.instance)
        let last = Mutex<(state: RealmState, entries: [String: RealmValue])?>(nil)
        return core.observers.add(on: place, for: there.instance, initial: { core.snapshot }) {
            snapshot, changed, isSilent in
            let state = snapshot.state
            guard let value = state.value(at: address) else { return }
            // Nothing is left of a map that was an `AnyRealmValue` once another value is in its place.
            let entries = if case .dictionary(let entries) = value { entries } else { [:] as [ByteString: RealmValue] }
            let new = Dictionary(entries.map { ($0.key.string, $0.value) }, uniquingKeysWith: { first, _ in first })
            guard let previous = last.exchange((state, new)) else { return block(.initial(there)) }
            guard !isSilent else { return }
            let modified = ModifiedObjects(observed, className, changed, from: previous.state, to: state)
            let change = RealmMapChange(there, from: previous.entries, to: new) { value in
                if case .link(let target) = value { modified.contains(target) } else { false }
            }
            if !change.isEmpty { block(change) }
        }
    }
}

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
    /// Calls `block` with the map now, and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    @preconcurrency
    public func observe(
        keyPaths: [PartialKeyPath<Value.Wrapped>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmMapChange<Map<Key, Value>>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }

    /// Calls `block` on an actor with the map now, and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Value.Wrapped>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmMapChange<Map<Key, Value>>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: actor, block)
    }
}
