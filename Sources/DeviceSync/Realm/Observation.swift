internal import Changesets
internal import RealmState
internal import Synchronization

extension ObjectHandle {
    /// Calls `block` after each commit that changes one of the properties, or deletes the object.
    ///
    /// - Parameter block: gets a handle that can be used at the place.
    func observe(
        _ keyPaths: [String]?, at place: DeliveryPlace,
        _ block: @escaping @Sendable (ObjectChange<ObjectHandle>) -> Void
    ) -> NotificationToken {
        precondition(!instance.isFrozen && exists, "only a live object of a realm can be observed")
        let observed = ObservedProperties(keyPaths, className, in: instance)
        let handle = moved(to: instance.delivered(at: place))
        let core = instance.core
        // The version that the caller sees: the caller has not been told of what is newer.
        let seen = instance.isInTransaction ? core.snapshot : instance.current
        let last = Mutex<(state: RealmState, isGone: Bool)>((seen.state, false))
        let initial: (() -> RealmSnapshot)? = seen === core.snapshot ? nil : { core.snapshot }
        return core.observers.add(on: place, for: handle.instance, initial: initial) { snapshot, changed, isSilent in
            let previous = last.withLock { last -> (state: RealmState, isGone: Bool) in
                defer { last.state = snapshot.state }
                return last
            }
            guard !previous.isGone else { return }
            let touched = changed.keys(of: handle.address.className, in: snapshot.state.schema)
            guard
                touched?.contains(handle.address.key) ?? true || observed.reach(changed, in: snapshot.state.schema),
                let old = handle.stored(in: previous.state)
            else { return }
            guard let new = handle.stored(in: snapshot.state) else {
                last.withLock { $0.isGone = true }
                return isSilent ? () : block(.deleted)
            }
            guard !isSilent else { return }
            guard let table = snapshot.state.schema.table(handle.className) else { return }
            let oldTable = previous.state.schema.table(handle.className) ?? table
            let reading = ValueReading(instance: handle.instance, schema: snapshot.state.schema)
            var changes = table.columns.compactMap { column -> PropertyChange? in
                guard observed.contains(column) else { return nil }
                let before = oldTable.column(column.name).map { old[$0] } ?? column.defaultValue
                let after = new[column]
                let isChanged =
                    observed.isAll
                    ? before != after
                    : observed.differ(column, at: handle.place(of: column.name), previous.state, snapshot.state)
                guard isChanged else { return nil }
                return PropertyChange(
                    name: column.name.string, oldValue: reading.single(before).scalar,
                    newValue: reading.single(after).scalar)
            }
            if handle.field == nil {
                changes += observed.changedBacklinks(handle.address, previous.state, snapshot.state).map {
                    PropertyChange(name: $0, oldValue: nil, newValue: nil)
                }
            }
            if !changes.isEmpty { block(.change(handle, changes)) }
        }
    }

    /// What a state has of the object; nil if it has none.
    func stored(in state: borrowing RealmState) -> StoredObject? {
        guard let field else { return state.object(address) }
        if case .embedded(let object)? = state.value(at: field) { return object }
        return nil
    }
}

extension _Field {
    /// Calls `block` with the elements of a list or set now, and after each commit that changes them or the objects that they link to.
    ///
    /// Ends when the object that has the field is deleted.
    /// - Parameters:
    ///   - keyPaths: the properties of linked objects whose changes count; nil for all, of what these link to as well.
    ///   - block: gets a field that can be used at the place.
    func observe(
        _ keyPaths: [String]? = nil, at place: DeliveryPlace,
        _ block: @escaping @Sendable (_Field, _ positions: PositionDifference?) -> Void
    ) -> NotificationToken {
        precondition(!instance.isFrozen && exists, "only a live collection of a realm can be observed")
        let observed = ObservedProperties(keyPaths, elementClass, in: instance)
        let field = moved(to: instance.delivered(at: place))
        let (core, address) = (instance.core, address)
        let target = elementClass
        let last = Mutex<(state: RealmState, items: [RealmValue])?>(nil)
        return core.observers.add(on: place, for: field.instance, initial: { core.snapshot }) {
            snapshot, changed, isSilent in
            let state = snapshot.state
            let previous = last.withLock { $0 }
            let modified = previous.map { ModifiedObjects(observed, target, changed, from: $0.state, to: state) }
            if let modified, let owners = changed.keys(of: address.object.className, in: state.schema),
                !owners.contains(address.object.key), modified.isEmpty
            {
                last.withLock { $0?.state = state }
                return
            }
            guard let items = Self.items(state.value(at: address), in: state) else { return }
            last.withLock { $0 = (state, items) }
            guard let previous, let modified else { return block(field, nil) }
            guard !isSilent else { return }
            let isList = if case .list = state.value(at: address) { true } else { false }
            let difference = PositionDifference(
                from: previous.items, to: items, replaces: { isList && $0.isNoLink }
            ) { item in
                if case .link(let target) = item { modified.contains(target) } else { false }
            }
            if !difference.isEmpty { block(field, difference) }
        }
    }

    /// The class of the objects that the elements link to; an empty name if they are no objects.
    var elementClass: ByteString { ByteString(property?.shape.target.map { ModelName.of($0) } ?? "") }

    /// The elements that an app sees; nil if the object is gone.
    private static func items(_ value: RealmValue?, in state: RealmState) -> [RealmValue]? {
        switch value {
        case .list(let items)?, .set(let items)?:
            items.filter { item in
                if case .link(let target) = item { state.contains(target) } else { true }
            }
        case nil: nil
        default: []
        }
    }
}

extension RealmValue {
    /// Whether a new value in the place of another is the same element, which has changed.
    fileprivate var isNoLink: Bool { if case .link = self { false } else { true } }
}
