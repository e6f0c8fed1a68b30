internal import RealmState

/// Values or objects in order, as a property of a model.
///
/// In an unmanaged object a list is a plain one; in a managed one it reads and writes the realm, and changing it outside of a write transaction traps. An index out of
/// range traps. Links to objects that the realm does not have are left out.
public final class List<Element: RealmCollectionValue>: RealmCollection, MutableCollection, ExpressibleByArrayLiteral {
    var storage: CollectionStorage<[Element]>

    init(_ storage: CollectionStorage<[Element]>) { self.storage = storage }

    /// An unmanaged empty list.
    public init() { storage = .unmanaged([]) }

    /// An unmanaged list of the elements.
    public convenience init(arrayLiteral elements: Element...) { self.init(.unmanaged(elements)) }

    /// The place of a managed list; nil for an unmanaged one.
    public var _field: _Field? { storage.field }

    // MARK: Reading

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int {
        switch storage {
        case .unmanaged(let elements): elements.count
        case .managed(let field): places(field).count
        }
    }

    /// The elements that there are now.
    public func makeIterator() -> AnyIterator<Element> {
        switch storage {
        case .unmanaged(let elements): return AnyIterator(elements.makeIterator())
        case .managed(let field):
            let places = places(field)
            var rest = places.all.makeIterator()
            return AnyIterator { rest.next().map { Self.element(places.items[$0], field, $0) } }
        }
    }

    /// One element.
    public subscript(_ position: Int) -> Element {
        get {
            switch storage {
            case .unmanaged(let elements): return elements[position]
            case .managed(let field):
                let places = places(field)
                let place = places[position]
                return Self.element(places.items[place], field, place)
            }
        }
        set {
            guard let field = writablePlace(of: "a list", orChange: { $0[position] = newValue }) else { return }
            let slot = field.appending(.index(places(field)[position]))
            slot.noteEmbedded(.replaced(slot.address))
            field.instance.set(slot.address, to: newValue._encoded(_ObjectWriter(field.instance)).value)
            newValue._adopt(slot)
        }
    }

    private static func element(_ item: RealmValue, _ field: _Field, _ place: Int) -> Element {
        Element._decode(_StoredValue(item, in: field.appending(.index(place))))
    }

    private let known = Remembered<VisiblePlaces>()

    private func places(_ field: _Field) -> VisiblePlaces { field.places(known) }

    // MARK: Changing

    /// Adds an element at the end.
    public func append(_ element: Element) { insert(element, at: endIndex) }

    /// Adds elements at the end.
    public func append<S: Sequence>(objectsIn elements: S) where S.Element == Element {
        for element in Array(elements) { append(element) }
    }

    /// Inserts an element before the one at a position.
    public func insert(_ element: Element, at position: Int) {
        guard let field = writablePlace(of: "a list", orChange: { $0.insert(element, at: position) }) else { return }
        // Before the position is looked up: the element may be added to the realm, to which the list may link already.
        let value = element._encoded(_ObjectWriter(field.instance)).value
        let place = places(field).insertion(at: position)
        let slot = field.appending(.index(place))
        field.noteEmbedded(.inserted(field.address, at: place))
        field.instance.edit { try $0.insert(value, at: slot.address) }
        element._adopt(slot)
    }

    /// Removes the element at a position.
    public func remove(at position: Int) {
        guard let field = writablePlace(of: "a list", orChange: { $0.remove(at: position) }) else { return }
        let place = places(field)[position]
        let address = field.address.appending(.index(place))
        field.noteEmbedded(.removed(field.address, at: place))
        field.instance.edit { try $0.remove(at: address) }
    }

    /// Removes the first elements.
    public func removeFirst(_ number: Int = 1) { removeSubrange(0..<number) }

    /// Removes the last elements.
    public func removeLast(_ number: Int = 1) { removeSubrange(endIndex - number..<endIndex) }

    /// Removes the elements at the positions of a range.
    public func removeSubrange(_ range: Range<Int>) {
        for position in range.reversed() { remove(at: position) }
    }

    /// Removes all elements, those too that are left out.
    public func removeAll() {
        guard let field = writablePlace(of: "a list", orChange: { $0 = [] }) else { return }
        field.noteEmbedded(.cleared(field.address))
        field.instance.edit { try $0.clear(field.address) }
    }

    /// Puts an element in the place of another.
    public func replace(index: Int, object: Element) { self[index] = object }

    /// Puts elements in the place of others.
    public func replaceSubrange<C: Collection>(_ range: Range<Int>, with elements: C) where C.Element == Element {
        let elements = Array(elements)
        removeSubrange(range)
        for (offset, element) in elements.enumerated() { insert(element, at: range.lowerBound + offset) }
    }

    /// Moves an element so that it ends up at another position.
    public func move(from: Int, to: Int) {
        guard let field = writablePlace(of: "a list", orChange: { $0.insert($0.remove(at: from), at: to) }) else {
            return
        }
        let places = places(field)
        let (old, new) = (places[from], places[to])
        field.noteEmbedded(.moved(field.address, from: old, to: new))
        field.instance.edit { try $0.moveElement(of: field.address, from: old, to: new) }
    }

    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) {
        guard let field = writablePlace(of: "a list", orChange: { $0.swapAt(first, second) }) else { return }
        let places = places(field)
        let (first, second) = (places[first], places[second])
        field.noteEmbedded(.swapped(field.address, first, second))
        field.instance.edit { try $0.swapElements(of: field.address, first, second) }
    }
}

extension List: _PropertyCollection, StoredCollection {
    /// A list of the elements.
    public static var _shape: _PropertyShape { Element._shape.collected(in: .list) }
    /// An empty list.
    public static func _initial() -> Self { Self() }
    /// The live list.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> Self { Self(.managed(field)) }
    /// The elements.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue {
        _StoredValue(.list(map { $0._encoded(writer).value }))
    }
    /// Makes the list the field's.
    public func _adopt(_ field: _Field) {
        guard case .unmanaged(let elements) = storage else { return }
        storage = .managed(field)
        for (position, element) in elements.enumerated() {
            element._adopt(field.appending(.index(position)))
        }
    }
    /// A list of the elements of an array or another collection.
    public static func _convert(_ any: Any?) throws -> Self {
        // A realm's list stays that of its object.
        if let list = any as? Self {
            return list._field == nil ? list : Self(.unmanaged(try list.map { try Element._convert($0) }))
        }
        return Self(.unmanaged(try ValueConversion.elements(any).map { try Element._convert($0) }))
    }
}
