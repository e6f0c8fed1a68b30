internal import Changesets
internal import Dispatch
internal import RealmState
internal import Synchronization

/// The properties of a class whose changes an observer wants to hear of.
struct ObservedProperties: Sendable {
    /// Nil for all.
    private let names: Set<ByteString>?

    /// Names that the class does not have trap, and so do key paths into other objects.
    init(_ keyPaths: [String]?, _ className: ByteString, _ schema: Schema) {
        names = keyPaths.map { Set($0.map { ByteString($0) }) }
        guard let keyPaths, let table = schema.table(className) else { return }
        for keyPath in keyPaths {
            let name = ByteString(keyPath)
            precondition(
                table.column(name) != nil || table.key?.name == name,
                "cannot observe '\(keyPath)': only properties of class \(className) itself can be observed")
        }
    }

    var isAll: Bool { names == nil }

    func contains(_ column: ColumnSchema) -> Bool { names?.contains(column.name) ?? true }

    /// Whether an object holds something else in one of the properties.
    func differ(_ address: ObjectAddress, _ old: RealmState, _ new: RealmState) -> Bool {
        guard let names else { return old.object(address) != new.object(address) }
        return names.contains { name in
            let field = FieldAddress(address, name)
            return old.value(at: field) != new.value(at: field)
        }
    }
}

/// What happened to an observed object.
enum HandleChange: Sendable {
    case changed([PropertyChange])
    case deleted
}

extension ObjectHandle {
    /// Calls `block` after each commit that changes one of the properties, or deletes the object.
    func observe(
        _ keyPaths: [String]?, on queue: DispatchQueue?, _ block: @escaping @Sendable (HandleChange) -> Void
    ) -> NotificationToken {
        precondition(!instance.isFrozen && exists, "only a live object of a realm can be observed")
        let observed = ObservedProperties(keyPaths, className, instance.schema)
        let handle = self
        let last = Mutex<(state: RealmState, isGone: Bool)>((instance.core.snapshot.state, false))
        return instance.core.observers.add(on: queue ?? .main) { snapshot, changed in
            let previous = last.withLock { last -> (state: RealmState, isGone: Bool) in
                defer { last.state = snapshot.state }
                return last
            }
            guard !previous.isGone else { return }
            let touched = changed.keys(of: handle.address.className, in: snapshot.state.schema)
            guard touched?.contains(handle.address.key) ?? true,
                let old = handle.stored(in: previous.state)
            else { return }
            guard let new = handle.stored(in: snapshot.state) else {
                last.withLock { $0.isGone = true }
                return block(.deleted)
            }
            guard let table = snapshot.state.schema.table(handle.className) else { return }
            let oldTable = previous.state.schema.table(handle.className) ?? table
            let reading = ValueReading(instance: handle.instance, schema: snapshot.state.schema)
            let changes = table.columns.compactMap { column -> PropertyChange? in
                guard observed.contains(column) else { return nil }
                let before = oldTable.column(column.name).map { old[$0] } ?? column.defaultValue
                let after = new[column]
                guard before != after else { return nil }
                return PropertyChange(
                    name: column.name.string, oldValue: reading.mixed(before).scalar,
                    newValue: reading.mixed(after).scalar)
            }
            if !changes.isEmpty { block(.changed(changes)) }
        }
    }

    private func stored(in state: RealmState) -> StoredObject? {
        guard let field else { return state.object(address) }
        if case .embedded(let object)? = state.value(at: field) { return object }
        return nil
    }
}

extension _Field {
    /// Calls `block` with the elements of a list or set now, and after each commit that changes them or the objects that they link to.
    ///
    /// Ends when the object that has the field is deleted.
    func observe(
        on queue: DispatchQueue?,
        _ block: @escaping @Sendable (_ positions: PositionDifference?) -> Void
    ) -> NotificationToken {
        precondition(!instance.isFrozen && exists, "only a live collection of a realm can be observed")
        let (core, address) = (instance.core, address)
        let last = Mutex<(state: RealmState, items: [RealmValue])?>(nil)
        return core.observers.add(on: queue ?? .main, initial: { core.snapshot }) { snapshot, _ in
            let state = snapshot.state
            guard let items = Self.items(state.value(at: address), in: state) else { return }
            let previous = last.withLock { last in
                defer { last = (state, items) }
                return last
            }
            guard let previous else { return block(nil) }
            let difference = PositionDifference(from: previous.items, to: items) { item in
                guard case .link(let target) = item else { return false }
                return previous.state.object(target) != state.object(target)
            }
            if !difference.isEmpty { block(difference) }
        }
    }

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
