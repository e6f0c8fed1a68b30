internal import Changesets
internal import RealmState

/// A live list property. Writing needs a write transaction; a wrong index or type traps.
public struct DynamicList: RandomAccessCollection, Sendable {
    /// The object that has the property.
    let owner: ObjectHandle
    let address: FieldAddress
    let element: ElementType

    var instance: RealmInstance { owner.instance }
    private var items: [Value] {
        if owner.isValid, case .list(let items)? = instance.value(at: address) { items } else { [] }
    }

    /// The position of the first element.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { items.count }

    /// The element at a position, as `DynamicObject`'s subscript shows it.
    public subscript(_ index: Int) -> Any? {
        get {
            let items = items
            precondition(items.indices.contains(index), "index \(index), the list has \(items.count) elements")
            return instance.reading.any(items[index], element, at: address.appending(.index(index)))
        }
        nonmutating set {
            let value = instance.convert(newValue, as: element)
            owner.edit { try $0.set(address.appending(.index(index)), to: value) }
        }
    }

    /// Adds an element at the end.
    public func append(_ value: Any?) { insert(value, at: count) }
    /// Adds several elements at the end.
    public func append(objectsIn values: [Any?]) { for value in values { append(value) } }
    /// Inserts before the element at `index`.
    public func insert(_ value: Any?, at index: Int) {
        let value = instance.convert(value, as: element)
        owner.edit { try $0.insert(value, at: address.appending(.index(index))) }
    }
    /// Removes the element at a position.
    public func remove(at index: Int) { owner.edit { try $0.remove(at: address.appending(.index(index))) } }
    /// Removes the last element.
    public func removeLast() { remove(at: count - 1) }
    /// Removes all elements.
    public func removeAll() { owner.edit { try $0.clear(address) } }
    /// Moves an element so that it ends up at `to`.
    public func move(from: Int, to: Int) { owner.edit { try $0.moveElement(of: address, from: from, to: to) } }
    /// Exchanges two elements.
    public func swapAt(_ first: Int, _ second: Int) { owner.edit { try $0.swapElements(of: address, first, second) } }
}

/// A live set property. Writing needs a write transaction; a wrong type traps.
public struct DynamicSet: Sequence, Sendable {
    /// The object that has the property.
    let owner: ObjectHandle
    let address: FieldAddress
    let element: ElementType

    var instance: RealmInstance { owner.instance }
    private var members: [Value] {
        if owner.isValid, case .set(let members)? = instance.value(at: address) { members } else { [] }
    }

    /// How many members there are.
    public var count: Int { members.count }

    /// The members, in the realm's order.
    public func makeIterator() -> AnyIterator<Any?> {
        let (reading, element, address) = (instance.reading, element, address)
        var rest = members.makeIterator()
        return AnyIterator { rest.next().map { reading.any($0, element, at: address) } }
    }

    /// Whether the set has a value.
    public func contains(_ value: Any?) -> Bool {
        guard let member = try? ValueConversion(schema: instance.schema).value(value, as: element) else { return false }
        return members.contains { Value.compare($0, member) == 0 }
    }
    /// Adds a member, unless the set has it.
    public func insert(_ value: Any?) {
        let value = instance.convert(value, as: element)
        owner.edit { try $0.insertIntoSet(value, in: address) }
    }
    /// Removes a member, if the set has it.
    public func remove(_ value: Any?) {
        let value = instance.convert(value, as: element)
        owner.edit { try $0.removeFromSet(value, in: address) }
    }
    /// Removes all members.
    public func removeAll() { owner.edit { try $0.clear(address) } }
}

/// A live dictionary property. Writing needs a write transaction; a wrong type or key traps.
public struct DynamicMap: Sendable {
    /// The object that has the property.
    let owner: ObjectHandle
    let address: FieldAddress
    let element: ElementType

    var instance: RealmInstance { owner.instance }
    private var entries: [ByteString: Value] {
        if owner.isValid, case .dictionary(let entries)? = instance.value(at: address) { entries } else { [:] }
    }

    /// How many entries there are.
    public var count: Int { entries.count }
    /// The keys, sorted.
    public var keys: [String] { entries.keys.sorted().map(\.string) }
    /// All entries.
    public var dictionary: [String: Any?] {
        Dictionary(keys.map { ($0, self[$0]) }, uniquingKeysWith: { first, _ in first })
    }
    /// Whether there is an entry for the key; its value may be null.
    public func contains(key: String) -> Bool { entries[ByteString(key)] != nil }

    /// The value of a key, nil if there is no entry. Assigning nil removes the entry.
    public subscript(_ key: String) -> Any? {
        get {
            guard let value = entries[ByteString(key)] else { return nil }
            return instance.reading.any(value, element, at: address.appending(.key(ByteString(key))))
        }
        nonmutating set {
            precondition(!key.hasPrefix("$") && !key.contains("."), "a key must not start with $ nor contain a dot")
            let place = address.appending(.key(ByteString(key)))
            guard let newValue else { return owner.edit { try $0.removeKey(place) } }
            let value = instance.convert(newValue, as: element)
            owner.edit { try $0.set(place, to: value) }
        }
    }

    /// Removes all entries.
    public func removeAll() { owner.edit { try $0.clear(address) } }
}
