internal import Changesets
internal import Foundation

extension AnyRealmValue {
    /// A link to an object of a realm.
    public static func object(_ object: DynamicObject) -> AnyRealmValue { .object(object.object) }

    /// The linked object, if this is a link to an object of the class.
    public func object<T: Object>(_ type: T.Type) -> T? {
        guard case .object(let object) = self else { return nil }
        if let object = object as? T { return object }
        guard let handle = object.handle, handle.className.string == ModelName.of(type) else { return nil }
        return T.managed(handle)
    }

    /// Adds the objects of the value that no realm has.
    /// - Parameter depth: how many lists and dictionaries are around it; deeper ones than values may have are left to what stores them.
    func addObjects(_ writer: _ObjectWriter, depth: Int = 0) {
        guard depth <= ChangesetLimits.maxNesting else { return }
        switch self {
        case .object(let object) where object.handle == nil: _ = writer.add(object)
        case .list(let list) where list._field == nil:
            for value in list { value.addObjects(writer, depth: depth + 1) }
        case .dictionary(let map) where map._field == nil:
            for entry in map { entry.value.addObjects(writer, depth: depth + 1) }
        default: break
        }
    }

    /// An unmanaged list of the values.
    public static func fromArray(_ array: [AnyRealmValue]) -> AnyRealmValue { .list(List(.unmanaged(array))) }

    /// An unmanaged dictionary of the values.
    public static func fromDictionary(_ dictionary: [String: AnyRealmValue]) -> AnyRealmValue {
        .dictionary(Map(.unmanaged(dictionary)))
    }

    /// The value of a key, if this is a dictionary that has it.
    public subscript(_ key: String) -> AnyRealmValue? { dictionaryValue?[key] }

    /// The element at a position, if this is a list that has it.
    public subscript(_ index: Int) -> AnyRealmValue? {
        listValue.flatMap { $0.indices.contains(index) ? $0[index] : nil }
    }

    /// What a value of another type is as a value of any type; nil if realms know no such type.
    init?(_ any: Any) {
        switch any {
        case let value as AnyRealmValue: self = value
        case let value as Bool: self = .bool(value)
        case let value as Int: self = .int(value)
        case let value as Int8: self = .int(Int(value))
        case let value as Int16: self = .int(Int(value))
        case let value as Int32: self = .int(Int(value))
        case let value as Int64: self = .int(Int(value))
        case let value as Float: self = .float(value)
        case let value as Double: self = .double(value)
        case let value as String: self = .string(value)
        case let value as Data: self = .data(value)
        case let value as Date: self = .date(value)
        case let value as ObjectId: self = .objectId(value)
        case let value as Decimal128: self = .decimal128(value)
        case let value as UUID: self = .uuid(value)
        case let value as DynamicObject: self = .object(value)
        case let value as Object: self = .object(value)
        case let value as List<AnyRealmValue>: self = .list(value)
        case let value as Map<String, AnyRealmValue>: self = .dictionary(value)
        case let values as [String: Any?]:
            let entries = values.compactMapValues(Self.nested)
            guard entries.count == values.count else { return nil }
            self = .fromDictionary(entries)
        case let values as [Any?]:
            let items = values.compactMap(Self.nested)
            guard items.count == values.count else { return nil }
            self = .fromArray(items)
        default: return nil
        }
    }

    private static func nested(_ any: Any?) -> AnyRealmValue? {
        guard let any = ValueConversion.unwrapped(any) else { return AnyRealmValue.none }
        return AnyRealmValue(any)
    }
}

extension AnyRealmValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// An integer.
    public init(integerLiteral value: Int) { self = .int(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// An unmanaged list.
    public init(arrayLiteral elements: AnyRealmValue...) { self = .fromArray(elements) }
    /// An unmanaged dictionary; of repeated keys the last counts.
    public init(dictionaryLiteral elements: (String, AnyRealmValue)...) {
        self = .fromDictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
