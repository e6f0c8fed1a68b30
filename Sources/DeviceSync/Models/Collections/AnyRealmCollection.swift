public import Foundation

extension RealmCollection {
    /// The elements at some positions, in the order of the positions. A position that there is not traps.
    public func objects(at indexes: IndexSet) -> [Element] { indexes.map { self[$0] } }
}

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
}
