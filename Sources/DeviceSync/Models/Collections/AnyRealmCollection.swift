public import Dispatch

/// A collection of a realm whose own type does not matter: `Results`, `List`, `MutableSet`, `LinkingObjects`.
public struct AnyRealmCollection<Element>: RealmCollection {
    /// The collection.
    public let base: any RealmCollection<Element>

    /// Hides the type of a collection.
    public init<Base: RealmCollection>(_ base: Base) where Base.Element == Element {
        self.base = (base as? AnyRealmCollection<Element>)?.base ?? base
    }

    /// The position of the first element.
    public var startIndex: Int { base.startIndex }
    /// The position after the last element.
    public var endIndex: Int { base.endIndex }
    /// One element.
    public subscript(_ index: Int) -> Element { base[index] }
    /// The elements that there are now.
    public func makeIterator() -> AnyIterator<Element> { Self.iterator(base) }

    private static func iterator(_ collection: some RealmCollection<Element>) -> AnyIterator<Element> {
        AnyIterator(collection.makeIterator())
    }

    /// The realm; nil for an unmanaged collection.
    public var realm: Realm? { base.realm }
    /// Whether the object that the collection belongs to was deleted.
    public var isInvalidated: Bool { base.isInvalidated }
    /// Whether the collection belongs to a frozen realm.
    public var isFrozen: Bool { base.isFrozen }

    /// The objects, which those of values and unmanaged ones do not have: these trap.
    public var _results: Results<Element> { base._results }
    /// A frozen collection, which shows the elements as they are now even after later changes.
    public func freeze() -> AnyRealmCollection<Element> { AnyRealmCollection(base.freeze()) }
    /// The live collection behind a frozen one.
    public func _thawed(_ isolation: (any Actor)?) -> AnyRealmCollection<Element>? {
        base._thawed(isolation).map { AnyRealmCollection($0) }
    }

    /// Calls `block` with the collection now and after each commit that changes it, on the queue given or else where the realm belongs.
    /// - Parameter keyPaths: the properties of the objects whose changes count; nil for all.
    @preconcurrency
    public func observe(
        keyPaths: [String]? = nil, on queue: DispatchQueue? = nil,
        _ block: @escaping @Sendable (RealmCollectionChange<AnyRealmCollection<Element>>) -> Void
    ) -> NotificationToken {
        Self.observe(base, keyPaths, queue, block)
    }

    private static func observe<Base: RealmCollection<Element>>(
        _ base: Base, _ keyPaths: [String]?, _ queue: DispatchQueue?,
        _ block: @escaping @Sendable (RealmCollectionChange<AnyRealmCollection<Element>>) -> Void
    ) -> NotificationToken {
        base.observe(keyPaths: keyPaths, on: queue) { change in block(change.map { AnyRealmCollection($0) }) }
    }

    /// Calls `block` on an actor with the collection now and after each commit that changes it; see `observe(keyPaths:on:_:)`.
    public func observe<A: Actor>(
        keyPaths: [String]? = nil, on actor: A, _isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<AnyRealmCollection<Element>>) -> Void
    ) async -> NotificationToken {
        await Self.observe(base, keyPaths, actor, _isolation, block)
    }

    private static func observe<Base: RealmCollection<Element>, A: Actor>(
        _ base: Base, _ keyPaths: [String]?, _ actor: A, _ isolation: isolated (any Actor)?,
        _ block: @escaping @Sendable (isolated A, RealmCollectionChange<AnyRealmCollection<Element>>) -> Void
    ) async -> NotificationToken {
        await base.observe(keyPaths: keyPaths, on: actor, _isolation: isolation) { actor, change in
            block(actor, change.map { AnyRealmCollection($0) })
        }
    }

    /// Whether both hide equal collections of one type.
    public static func == (left: AnyRealmCollection, right: AnyRealmCollection) -> Bool { equal(left.base, right.base) }

    private static func equal<Base: RealmCollection<Element>>(_ left: Base, _ right: any RealmCollection<Element>)
        -> Bool
    {
        (right as? Base) == left
    }

    /// The elements, line by line.
    public var description: String {
        let text = base.description
        return "AnyRealmCollection\(text.firstIndex(of: "<").map { String(text[$0...]) } ?? text)"
    }
}
