internal import RealmState

/// Values or objects without order or repetition, as a property of a model. Of embedded objects there are no sets.
///
/// In an unmanaged object a set is a plain one; in a managed one it reads and writes the realm, and changing it outside of a write transaction traps.
/// Links to objects that the realm does not have are left out.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection, ExpressibleByArrayLiteral {
    var storage: CollectionStorage<[Element]>

    init(_ storage: CollectionStorage<[Element]>) { self.storage = storage }

    /// An unmanaged empty set.
    public init() { storage = .unmanaged([]) }

    /// An unmanaged set of the elements.
    public convenience init(arrayLiteral elements: Element...) { self.init(.unmanaged(Self.unique(elements))) }

    static func unique(_ elements: [Element]) -> [Element] {
        var seen: Set<Element> = []
        return elements.filter { seen.insert($0).inserted }
    }

    /// The place of a managed set; nil for an unmanaged one.
    public var _field: _Field? { storage.field }

    private var elements: [Element] {
        switch storage {
        case .unmanaged(let elements): return elements
        case .managed(let field):
            let places = field.places(known)
            return places.all.map { Element._decode(_StoredValue(places.items[$0], in: field)) }
        }
    }
    private let known = Remembered<VisiblePlaces>()

    // MARK: Reading

    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The position after the last member.
    public var endIndex: Int {
        switch storage {
        case .unmanaged(let elements): elements.count
        case .managed(let field): field.places(known).count
        }
    }
    /// One member, in an order that changes with the set.
    public subscript(_ position: Int) -> Element {
        switch storage {
        case .unmanaged(let elements): return elements[position]
        case .managed(let field):
            let places = field.places(known)
            return Element._decode(_StoredValue(places.items[places[position]], in: field))
        }
    }
    /// The members that there are now.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }

    /// Whether the set has a member.
    public func contains(_ element: Element) -> Bool { elements.contains(element) }
    /// Whether another set has all members of this one.
    public func isSubset(of other: MutableSet<Element>) -> Bool { Set(self).isSubset(of: other) }
    /// Whether the sets have a member in common.
    public func intersects(_ other: MutableSet<Element>) -> Bool { !Set(self).isDisjoint(with: other) }

    // MARK: Changing

    /// Adds a member, unless the set has it.
    public func insert(_ element: Element) {
        guard let field = writablePlace(of: "a set", orChange: { $0 = Self.unique($0 + [element]) }) else { return }
        let value = element._encoded(_ObjectWriter(field.instance)).value
        field.instance.edit { try $0.insertIntoSet(value, in: field.address) }
    }

    /// Adds members, as far as the set does not have them.
    public func insert<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        for element in Array(elements) { insert(element) }
    }

    /// Removes a member, if the set has it.
    public func remove(_ element: Element) {
        guard let field = writablePlace(of: "a set", orChange: { $0.removeAll { $0 == element } }) else { return }
        // An object that no realm has is no member, and must not be added for being removed.
        if let object = element as? ObjectBase, object.handle == nil { return }
        let value = element._encoded(_ObjectWriter(field.instance)).value
        field.instance.edit { try $0.removeFromSet(value, in: field.address) }
    }

    /// Removes all members, those too that are left out.
    public func removeAll() {
        guard let field = writablePlace(of: "a set", orChange: { $0 = [] }) else { return }
        field.instance.edit { try $0.clear(field.address) }
    }

    /// Adds the members of another set.
    public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: other) }
    /// Removes the members that another set lacks.
    public func formIntersection(_ other: MutableSet<Element>) {
        let kept = Set(other)
        for element in elements where !kept.contains(element) { remove(element) }
    }
    /// Removes the members of another set.
    public func subtract(_ other: MutableSet<Element>) {
        for element in Array(other) { remove(element) }
    }
}

extension MutableSet: _PropertyCollection, StoredCollection {
    /// A set of the elements.
    public static var _shape: _PropertyShape { Element._shape.collected(in: .set) }
    /// An empty set.
    public static func _initial() -> Self { Self() }
    /// The live set.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> Self { Self(.managed(field)) }
    /// The members.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue {
        _StoredValue(.set(ofDistinct: map { $0._encoded(writer).value }))
    }
    /// Makes the set the field's.
    public func _adopt(_ field: _Field) { if case .unmanaged = storage { storage = .managed(field) } }
    /// A set of the elements of an array or another collection.
    public static func _convert(_ any: Any?) throws -> Self {
        // A realm's set stays that of its object.
        if let set = any as? Self { return set._field == nil ? set : Self(.unmanaged(Array(set))) }
        return Self(.unmanaged(unique(try ValueConversion.elements(any).map { try Element._convert($0) })))
    }
}
