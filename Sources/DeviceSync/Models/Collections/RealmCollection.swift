internal import Changesets
public import Dispatch
internal import RealmState

/// Objects or values that belong together: `Results`, `List`, `MutableSet`, `LinkingObjects`.
///
/// Collections of objects are filtered, sorted, put into sections and summed up alike, whichever they are.
public protocol RealmCollection<Element>: RandomAccessCollection, Equatable, CustomStringConvertible, ThreadConfined
where Index == Int {
    /// Whether the collection belongs to a frozen realm.
    var isFrozen: Bool { get }
    /// The objects, as filters and sorting begin with them. A collection of values traps, and so does an unmanaged one.
    var _results: Results<Element> { get }
    /// A frozen collection, which shows the elements as they are now even after later changes.
    func freeze() -> Self
    /// The live collection behind a frozen one, where the caller runs.
    func _thawed(_ isolation: (any Actor)?) -> Self?
    /// Calls `block` with the collection now and after each commit that changes it.
    @preconcurrency
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken
    /// Calls `block` on an actor with the collection now and after each commit that changes it.
    func observe<A: Actor>(
        keyPaths: [String]?, on actor: A, _isolation: isolated (any Actor)?,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken
}

extension RealmCollection {
    /// The live collection behind a frozen one; nil if what it belongs to was deleted since.
    @_disfavoredOverload
    public func thaw(_isolation: (any Actor)? = #isolation) -> Self? { _thawed(_isolation) }

    /// Calls `block` with the collection now and after each commit that changes it, on the queue given or else where the realm belongs.
    /// - Parameter keyPaths: the properties of the objects whose changes count; nil for all.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths, on: queue, block)
    }

    /// Calls `block` on an actor with the collection now and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths, on: actor, _isolation: _isolation, block)
    }
}

extension RealmCollection where Element: ObjectBase {
    /// Calls `block` with the collection now and after each commit that changes it. Changes of the named properties alone count as modifications.
    @preconcurrency
    public func observe(
        keyPaths: [PartialKeyPath<Element>], on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<Self>) -> Void
    ) -> NotificationToken {
        observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: queue, block)
    }

    /// Calls `block` on an actor with the collection now and after each commit that changes it. Changes of the named properties alone count as modifications.
    public func observe<A: Actor>(
        keyPaths: [PartialKeyPath<Element>], on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<Self>) -> Void
    ) async -> NotificationToken {
        await observe(keyPaths: keyPaths.map { KeyPathNames.of($0) }, on: actor, _isolation: _isolation, block)
    }
}

extension RealmCollection where Element: Equatable {
    /// The position of the first element that is equal; nil if there is none.
    public func index(of element: Element) -> Int? { firstIndex(of: element) }
}

extension _Field {
    /// Whether the object that has the field is there, and a collection in a place for values of any type, too.
    var exists: Bool { owner.exists && (held == .none || collection != nil) }

    /// The collection that is in the place; nil if there is none, or one of another kind than was found in a place for values of any type.
    var collection: RealmValue? {
        switch (value, held) {
        case (.list(let items)?, .none), (.list(let items)?, .list): .list(items)
        case (.dictionary(let entries)?, .none), (.dictionary(let entries)?, .map): .dictionary(entries)
        case (.set(let items)?, .none): .set(items)
        default: nil
        }
    }

    /// The elements of a list, the members of a set, or none.
    var items: [RealmValue] {
        switch value {
        case .list(let items), .set(let items): items
        default: []
        }
    }

    /// The entries of a map.
    var entries: [ByteString: RealmValue] { if case .dictionary(let entries)? = value { entries } else { [:] } }

    /// The same field as another instance of the realm shows it.
    func moved(to instance: RealmInstance) -> _Field {
        _Field(
            instance: instance, address: address, property: property, owner: owner.moved(to: instance), held: held)
    }

    func isSame(as other: _Field) -> Bool {
        address == other.address && instance.isSame(as: other.instance)
    }

    /// Traps unless the field can be written.
    func checkWritable(_ what: String) {
        instance.checkIsInTransaction("\(what) can be changed")
        precondition(owner.exists, "the \(owner.className) object has been deleted or invalidated")
        precondition(
            exists,
            "\(what) that was in '\(address.field)' of a \(owner.className) object is gone: another value is there")
    }
}
