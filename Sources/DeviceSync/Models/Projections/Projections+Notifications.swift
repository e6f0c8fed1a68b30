public import Dispatch

/// Tells an observer of a projection what a change of its object is to it.
private struct ProjectionObserver<P: ProjectionObservable>: Sendable {
    let type: P.Type
    let rootType: P.Root.Type
    let properties: [ProjectedProperty]

    init(_ projection: P, _ keyPaths: [String]?) {
        type = Swift.type(of: projection)
        rootType = Swift.type(of: projection.rootObject)
        properties = ProjectionSchema.selected(keyPaths, of: projection)
    }

    func observe(
        _ object: P.Root, at place: DeliveryPlace?, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<ObjectHandle>) -> Void
    ) -> NotificationToken {
        guard let handle = object.handle else {
            preconditionFailure("only a projection of a realm's object can be observed; this one's is unmanaged")
        }
        let origins = Set(properties.flatMap(\.origins)).sorted()
        return handle.observe(origins, at: place ?? handle.instance.deliveryPlace(queue), block)
    }

    /// The change, as the projection shows it.
    func projected(_ change: ObjectChange<ObjectHandle>) -> ObjectChange<P> {
        switch change {
        case .error(let error): return .error(error)
        case .deleted: return .deleted
        case .change(let handle, let changes):
            let root = rootType.managed(handle)
            return .change(type.init(projecting: root), projected(changes, of: root))
        }
    }

    /// Every property that shows something of what has changed, whether or not it is just that which has.
    private func projected(_ changes: [PropertyChange], of root: P.Root) -> [PropertyChange] {
        let model = ModelSchema.of(rootType)
        let changed = Dictionary(
            changes.map { (model[$0.name]?.swiftName ?? $0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let old = former(root, changed, model)
        return properties.compactMap { property in
            let firsts = property.firsts
            guard !firsts.isDisjoint(with: changed.keys) else { return nil }
            let isKnown = firsts.allSatisfy { model[$0]?.shape.isKnownBefore == true }
            return PropertyChange(
                name: property.name,
                oldValue: isKnown ? ValueConversion.unwrapped(old[keyPath: property.keyPath]) : nil,
                newValue: ValueConversion.unwrapped(root[keyPath: property.keyPath]))
        }
    }

    /// An unmanaged object that has what the object had before, as far as that is known and asked for.
    private func former(_ root: P.Root, _ changed: [String: PropertyChange], _ model: ModelSchema) -> P.Root {
        let old = rootType.init()
        for name in Set(properties.flatMap(\.firsts)) {
            guard let property = model[name], property.shape.isKnownBefore else { continue }
            let value = changed[name].map { $0.oldValue } ?? property.value(of: root)
            // A link to what was deleted since has nothing to show.
            try? property.assign(value, to: old)
        }
        return old
    }
}

extension _PropertyShape {
    /// Whether notifications say what a property had before.
    fileprivate var isKnownBefore: Bool {
        collection == .none && !isBacklink && !(target is EmbeddedObject.Type)
    }
}

extension ProjectionObservable {
    /// Calls `block` after each commit that changes something that the projection shows, or deletes the object, on the queue given or else where the realm belongs.
    ///
    /// A change names every property that shows something of a changed property of the object. The old value of what is in a collection or an embedded object is nil. The
    /// projection of an unmanaged or frozen object traps.
    /// - Parameter keyPaths: the names of the properties whose changes are reported; nil for all.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        let observer = ProjectionObserver(self, keyPaths)
        return observer.observe(rootObject, at: nil, on: queue) { block(observer.projected($0)) }
    }

    /// Calls `block` after each commit that changes what one of the properties shows, or deletes the object; see `observe(keyPaths:on:_:)`.
    @preconcurrency
    public func observe(
        keyPaths: [PartialKeyPath<Self>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (ObjectChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.flatMap { ProjectionSchema.names(of: $0, in: self) }, on: queue, block)
    }

    /// Calls `block` on an actor after each commit that changes something that the projection shows, or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        let observer = ProjectionObserver(self, keyPaths)
        return .unlessCancelled {
            observer.observe(rootObject, at: .actor(actor)) { change in
                actor.assumeIsolated { block($0, observer.projected(change)) }
            }
        }
    }

    /// Calls `block` on an actor after each commit that changes what one of the properties shows, or deletes the object; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Self>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, ObjectChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.flatMap { ProjectionSchema.names(of: $0, in: self) }, on: actor, block)
    }
}

/// What changed in a property of a projection: as `PropertyChange`, which notifications have.
@frozen public struct ProjectedPropertyChange {
    /// The name.
    public let name: String
    /// The value before; nil if it is not known.
    public let oldValue: Any?
    /// The value after.
    public let newValue: Any?
}
