internal import Changesets
internal import RealmState

/// A live list property. Writing needs a write transaction; a wrong index or type traps.
public struct DynamicList: RandomAccessCollection, Sendable {
    let field: _Field
    let element: ElementType

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { field.items.count }

    /// The element at a position, as `DynamicObject`'s subscript shows it.
    public subscript(_ index: Int) -> Any? {
        get {
            let items = field.items
            precondition(items.indices.contains(index), "index \(index), the list has \(items.count) elements")
            return field.instance.reading.any(items[index], element, at: field.address.appending(.index(index)))
        }
        nonmutating set {
            let value = field.instance.convert(newValue, as: element)
            field.owner.edit { try $0.set(field.address.appending(.index(index)), to: value) }
        }
    }

    /// Adds an element at the end.
    public func append(_ value: Any?) { insert(value, at: count) }
    /// Adds several elements at the end.
    public func append(objectsIn values: [Any?]) { for value in values { append(value) } }
    /// Inserts before the element at `index`.
    public func insert(_ value: Any?, at index: Int) {
        let value = field.instance.convert(value, as: element)
        field.owner.edit { try $0.insert(value, at: field.address.appending(.index(index))) }
    }
    /// Removes the element at a position.
    public func remove(at index: Int) { field.owner.edit { try $0.remove(at: field.address.appending(.index(index))) } }
    /// Removes the last element.
    public func removeLast() { remove(at: count - 1) }
    /// Removes all elements.
    public func removeAll() { field.owner.edit { try $0.clear(field.address) } }
    /// Moves an element so that it ends up at `to`.
    public func move(from: Int, to: Int) {
        field.owner.edit { try $0.moveElement(of: field.address, from: from, to: to) }
    }
    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) {
        field.owner.edit { try $0.swapElements(of: field.address, first, second) }
    }
}

/// A live set property. Writing needs a write transaction; a wrong type traps.
public struct DynamicSet: Sequence, Sendable {
    let field: _Field
    let element: ElementType

    /// How many members there are.
    public var count: Int { field.items.count }

    /// The members, in the realm's order.
    public func makeIterator() -> AnyIterator<Any?> {
        let (reading, element, address) = (field.instance.reading, element, field.address)
        var rest = field.items.makeIterator()
        return AnyIterator { rest.next().map { reading.any($0, element, at: address) } }
    }

    /// Whether the set has a value.
    public func contains(_ value: Any?) -> Bool {
        guard let member = try? ValueConversion(schema: field.instance.schema).value(value, as: element) else {
            return false
        }
        return field.items.contains { Value.compare($0, member) == 0 }
    }
    /// Adds a member, unless the set has it.
    public func insert(_ value: Any?) {
        let value = field.instance.convert(value, as: element)
        field.owner.edit { try $0.insertIntoSet(value, in: field.address) }
    }
    /// Removes a member, if the set has it.
    public func remove(_ value: Any?) {
        let value = field.instance.convert(value, as: element)
        field.owner.edit { try $0.removeFromSet(value, in: field.address) }
    }
    /// Removes all members.
    public func removeAll() { field.owner.edit { try $0.clear(field.address) } }
}

/// A live dictionary property. Writing needs a write transaction; a wrong type or key traps.
public struct DynamicMap: Sendable {
    let field: _Field
    let element: ElementType

    /// How many entries there are.
    public var count: Int { field.entries.count }
    /// The keys, sorted.
    public var keys: [String] { field.entries.keys.sorted().map(\.string) }
    /// All entries.
    public var dictionary: [String: Any?] {
        Dictionary(keys.map { ($0, self[$0]) }, uniquingKeysWith: { first, _ in first })
    }
    /// Whether there is an entry for the key; its value may be null.
    public func contains(key: String) -> Bool { field.entries[ByteString(key)] != nil }

    /// The value of a key, nil if there is no entry. Assigning nil removes the entry.
    public subscript(_ key: String) -> Any? {
        get {
            guard let value = field.entries[ByteString(key)] else { return nil }
            return field.instance.reading.any(value, element, at: field.address.appending(.key(ByteString(key))))
        }
        nonmutating set {
            ValueConversion.checkKey(key)
            let place = field.address.appending(.key(ByteString(key)))
            guard let newValue else { return field.owner.edit { try $0.removeKey(place) } }
            let value = field.instance.convert(newValue, as: element)
            field.owner.edit { try $0.set(place, to: value) }
        }
    }

    /// Removes all entries.
    public func removeAll() { field.owner.edit { try $0.clear(field.address) } }
}
