internal import Changesets
internal import RealmState

/// A type of a map's keys: strings.
public protocol _MapKey: Hashable, SendableMetatype {
    /// The key as a string.
    var _text: String { get }
    /// The key of a string.
    static func _key(_ text: String) -> Self
}

extension String: _MapKey {
    /// The string.
    public var _text: String { self }
    /// The string.
    public static func _key(_ text: String) -> String { text }
}

/// An entry of a `Map`.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: Hashable {
    /// The key.
    public let key: Key
    /// The value.
    public let value: Value
}

/// Values or objects by string keys, as a property of a model.
///
/// In an unmanaged object a map is a plain one; in a managed one it reads and writes the realm, and changing it outside of a write transaction traps. A key that
/// begins with `$` or contains a dot traps.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: Sequence, ExpressibleByDictionaryLiteral {
    var storage: CollectionStorage<[Key: Value]>

    init(_ storage: CollectionStorage<[Key: Value]>) { self.storage = storage }

    /// An unmanaged empty map.
    public init() { storage = .unmanaged([:]) }

    /// An unmanaged map; of repeated keys the last counts.
    public convenience init(dictionaryLiteral elements: (Key, Value)...) {
        self.init(.unmanaged(Dictionary(elements, uniquingKeysWith: { $1 })))
    }

    /// The place of a managed map; nil for an unmanaged one.
    public var _field: _Field? { storage.field }

    // MARK: Reading

    /// How many entries there are.
    public var count: Int {
        switch storage {
        case .unmanaged(let entries): entries.count
        case .managed(let field): field.entries.count
        }
    }
    /// Whether there is no entry.
    public var isEmpty: Bool { count == 0 }

    /// The keys, sorted.
    public var keys: [Key] {
        switch storage {
        case .unmanaged(let entries): entries.keys.sorted { $0._text < $1._text }
        case .managed(let field): field.entries.keys.sorted().map { Key._key($0.string) }
        }
    }

    /// The values, in the order of the keys.
    public var values: [Value] { keys.compactMap { self[$0] } }

    /// The entries that there are now.
    var contents: [Key: Value] {
        switch storage {
        case .unmanaged(let entries): return entries
        case .managed(let field):
            let entries = field.entries.map { name, value in
                (Key._key(name.string), Value._decode(_StoredValue(value, in: field.appending(.key(name)))))
            }
            return Dictionary(entries, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The value of a key, nil if there is no entry. Assigning nil removes the entry.
    public subscript(_ key: Key) -> Value? {
        get {
            switch storage {
            case .unmanaged(let entries): return entries[key]
            case .managed(let field):
                let name = ByteString(key._text)
                return field.entries[name].map { Value._decode(_StoredValue($0, in: field.appending(.key(name)))) }
            }
        }
        set {
            guard let newValue else { return removeObject(for: key) }
            ValueConversion.checkKey(key._text)
            guard let field = writablePlace(of: "a map", orChange: { $0[key] = newValue }) else { return }
            let entry = field.appending(.key(ByteString(key._text)))
            entry.noteEmbedded(.replaced(entry.address))
            field.instance.set(entry.address, to: newValue._encoded(_ObjectWriter(field.instance)).value)
            newValue._adopt(entry)
        }
    }

    /// The value of a key, or another if there is no entry.
    public subscript(_ key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
        get { self[key] ?? defaultValue() }
        set { self[key] = newValue }
    }

    /// The entries that there are now, sorted by their keys.
    public func makeIterator() -> AnyIterator<SingleMapEntry<Key, Value>> {
        var rest = keys.makeIterator()
        return AnyIterator {
            while let key = rest.next() {
                if let value = self[key] { return SingleMapEntry(key: key, value: value) }
            }
            return nil
        }
    }

    /// The entries that there are now as pairs, sorted by their keys.
    public var asKeyValueSequence: KeyValueSequence { KeyValueSequence(map: self) }

    /// The entries of a map as pairs.
    public struct KeyValueSequence: Sequence {
        fileprivate let map: Map<Key, Value>

        /// The pairs that there are now.
        public func makeIterator() -> AnyIterator<(key: Key, value: Value)> {
            let entries = map.makeIterator()
            return AnyIterator { entries.next().map { (key: $0.key, value: $0.value) } }
        }

        /// The same pairs: `map.asKeyValueSequence()` is how Realm Swift has it.
        public func callAsFunction() -> KeyValueSequence { self }
    }

    // MARK: Changing

    /// Sets the value of a key.
    public func updateValue(_ value: Value, forKey key: Key) { self[key] = value }

    /// Sets the value of a key; see `subscript`.
    public func setValue(_ value: Value, forKey key: Key) { self[key] = value }

    /// Removes the entry of a key, if there is one.
    public func removeObject(for key: Key) {
        ValueConversion.checkKey(key._text)
        guard let field = writablePlace(of: "a map", orChange: { $0[key] = nil }) else { return }
        let entry = field.address.appending(.key(ByteString(key._text)))
        field.noteEmbedded(.replaced(entry))
        field.instance.edit { try $0.removeKey(entry) }
    }

    /// Removes all entries.
    public func removeAll() {
        guard let field = writablePlace(of: "a map", orChange: { $0 = [:] }) else { return }
        field.noteEmbedded(.cleared(field.address))
        field.instance.edit { try $0.clear(field.address) }
    }

    /// Takes over the entries of a sequence; `combine` decides what a key has that is in both.
    public func merge<S: Sequence>(_ other: S, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows
    where S.Element == (key: Key, value: Value) {
        for (key, value) in other { self[key] = try self[key].map { try combine($0, value) } ?? value }
    }

    /// Takes over the entries of another map; `combine` decides what a key has that is in both.
    public func merge(_ other: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value) rethrows {
        try merge(other.asKeyValueSequence, uniquingKeysWith: combine)
    }
}

extension Map: _PropertyCollection, StoredCollection {
    /// A map of the values.
    public static var _shape: _PropertyShape { Value._shape.collected(in: .map) }
    /// An empty map.
    public static func _initial() -> Self { Self() }
    /// The live map.
    public static func _read(_ field: _Field, holding stored: _StoredValue?) -> Self { Self(.managed(field)) }
    /// The entries.
    public func _encoded(_ writer: _ObjectWriter) -> _StoredValue {
        var entries: [ByteString: RealmValue] = [:]
        for entry in self { entries[ByteString(entry.key._text)] = entry.value._encoded(writer).value }
        return _StoredValue(.dictionary(entries))
    }
    /// Makes the map the field's.
    public func _adopt(_ field: _Field) {
        guard case .unmanaged(let entries) = storage else { return }
        storage = .managed(field)
        for (key, value) in entries { value._adopt(field.appending(.key(ByteString(key._text)))) }
    }
    /// A map of the entries of a dictionary.
    public static func _convert(_ any: Any?) throws -> Self {
        if let map = any as? Self {
            guard map._field != nil else { return map }
            // A realm's map stays that of its object.
            return Self(.unmanaged(try map.contents.mapValues { try Value._convert($0) }))
        }
        guard let any = ValueConversion.unwrapped(any) else { return Self() }
        guard let dictionary = (any as? DynamicMap)?.dictionary ?? any as? [String: Any?] else {
            throw ValueMismatch(description: "expected a dictionary, came \(type(of: any))")
        }
        var entries: [Key: Value] = [:]
        for (key, value) in dictionary {
            if let fault = ByteString(key).dictionaryKeyFault { throw ValueMismatch(description: fault) }
            entries[Key._key(key)] = try Value._convert(value)
        }
        return Self(.unmanaged(entries))
    }
}
