internal import Changesets
internal import RealmState

// Models that are `Codable` get their coding from the compiler, which codes one property after the other by these.

extension Persisted: Decodable where Value: Decodable {
    /// The value; null is nil. Nothing is kept of the default that the property was declared with.
    public init(from decoder: any Decoder) throws {
        self.init(role: .plain)
        let container = try decoder.singleValueContainer()
        // Decoders differ in what they make of null for an optional.
        if container.decodeNil(), let type = Value.self as? any ExpressibleByNilLiteral.Type,
            let none = type.init(nilLiteral: ()) as? Value
        {
            content = .set(none)
        } else {
            content = .set(try container.decode(Value.self))
        }
    }
}

extension Persisted: Encodable where Value: Encodable {
    /// The value of an unmanaged object.
    ///
    /// - Throws: `EncodingError.invalidValue` for an object of a realm, whose properties know nothing of it: give the class an `encode(to:)` of its own.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch content {
        case .set(let value), .defaulted(let value): try container.encode(value)
        case .unset: try container.encode(Value._initial())
        case .managed, .traced:
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "only unmanaged objects can be encoded by what the compiler makes; for objects of a realm "
                        + "write encode(to:) in the class"))
        }
    }
}

/// A property that is nil if what is decoded does not have it.
public protocol OptionalCodingWrapper {
    /// The property, nil.
    static var _missing: Self { get }
}

extension Persisted: OptionalCodingWrapper where Value: ExpressibleByNilLiteral {
    /// The property, nil.
    public static var _missing: Persisted<Value> {
        var property = Persisted(role: .plain)
        property.content = .set(nil)
        return property
    }
}

extension KeyedDecodingContainer {
    /// The property of a key; nil if the key is missing.
    public func decode<T: Decodable & OptionalCodingWrapper>(
        _ type: T.Type, forKey key: KeyedDecodingContainer<K>.Key
    ) throws -> T {
        try decodeIfPresent(T.self, forKey: key) ?? T._missing
    }
}

// MARK: - Collections

extension RealmCollection where Element: Encodable {
    /// The elements, in their order.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for element in self { try container.encode(element) }
    }
}

extension Results: Encodable where Element: Encodable {}
extension AnyRealmCollection: Encodable where Element: Encodable {}
extension LinkingObjects: Encodable where Element: Encodable {}
extension List: Encodable where Element: Encodable {}
extension MutableSet: Encodable where Element: Encodable {}

extension List: Decodable where Element: Decodable {
    /// An unmanaged list.
    public convenience init(from decoder: any Decoder) throws {
        self.init(.unmanaged(try [Element](decoding: decoder)))
    }
}

extension MutableSet: Decodable where Element: Decodable {
    /// An unmanaged set.
    public convenience init(from decoder: any Decoder) throws {
        self.init(.unmanaged(Self.unique(try [Element](decoding: decoder))))
    }
}

extension Array where Element: Decodable {
    fileprivate init(decoding decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd { append(try container.decode(Element.self)) }
    }
}

extension Map: Encodable where Key: Encodable, Value: Encodable {
    /// The entries.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(contents)
    }
}

extension Map: Decodable where Key: Decodable, Value: Decodable {
    /// An unmanaged map.
    public convenience init(from decoder: any Decoder) throws {
        let entries = try decoder.singleValueContainer().decode([Key: Value].self)
        for key in entries.keys {
            guard let fault = ByteString(key._text).dictionaryKeyFault else { continue }
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: fault))
        }
        self.init(.unmanaged(entries))
    }
}
