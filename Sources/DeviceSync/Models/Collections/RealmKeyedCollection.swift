public import Dispatch

/// Values or objects by keys: `Map`.
public protocol RealmKeyedCollection<Key, Value>: Sequence, ThreadConfined, CustomStringConvertible {
    /// The type of the keys.
    associatedtype Key: _MapKey
    /// The type of the values.
    associatedtype Value: RealmCollectionValue
    /// Whether the collection belongs to a frozen realm.
    var isFrozen: Bool { get }
    /// How many entries there are.
    var count: Int { get }
    /// The keys, sorted.
    var keys: [Key] { get }
    /// The values, in the order of the keys.
    var values: [Value] { get }
    /// The value of a key, nil if there is no entry. Assigning nil removes the entry.
    subscript(_ key: Key) -> Value? { get set }
    /// Sets the value of a key.
    func updateValue(_ value: Value, forKey key: Key)
    /// Removes the entry of a key, if there is one.
    func removeObject(for key: Key)
    /// Removes all entries.
    func removeAll()
    /// The values, as filters and sorting begin with them. Those of an unmanaged collection trap.
    var _elements: Results<Value> { get }
    /// Calls `block` with the collection now and after each commit that changes it.
    @preconcurrency
    func observe(
        keyPaths: [String]?, on queue: DispatchQueue?,
        _ block: @escaping @Sendable (RealmMapChange<Self>) -> Void
    ) -> NotificationToken
}

extension Map: RealmKeyedCollection {}

extension RealmKeyedCollection {
    /// The value of a key; nil if there is none. Aggregates of all values go by `@count`, `@min`, `@max`, `@sum` and `@avg`.
    public func value(forKey key: String) -> Any? {
        CollectionOperators.value(key, of: values) ?? self[Key._key(key)].flatMap { ValueConversion.unwrapped($0) }
    }

    /// The value of a key, or what a key path leads to from it.
    public func value(forKeyPath keyPath: String) -> Any? {
        if let value = CollectionOperators.value(keyPath, of: values) { return value }
        let names = keyPath.split(separator: ".", maxSplits: 1)
        guard let first = names.first, let value = value(forKey: String(first)) else { return nil }
        guard names.count > 1 else { return value }
        return (value as? ObjectBase)?.value(forKeyPath: String(names[1]))
    }

    /// Sets the value of a key; nil removes the entry. A value of another type traps.
    @_disfavoredOverload
    public func setValue(_ value: Any?, forKey key: String) {
        guard let value = ValueConversion.unwrapped(value) else { return removeObject(for: Key._key(key)) }
        updateValue(ValueConversion.orTrap { try Value._convert(value) }, forKey: Key._key(key))
    }

    /// The value of a key, nil if there is none.
    public func object(forKey key: String) -> Any? { value(forKey: key) }
}
