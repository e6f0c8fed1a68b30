import Changesets
import Query
import RealmState
import SyncModel

/// The schema and objects that a recording's queries run on.
struct RecordedRealm: QueryGraph {
    let schema: QuerySchema
    let className: ByteString
    /// The rows of each class, in table order.
    private(set) var rows: [ByteString: [QueryRow]] = [:]
    private var objects: [ObjectAddress: StoredObject] = [:]
    private var incoming: [ObjectAddress: [Origin]] = [:]

    private struct Origin {
        var address: ObjectAddress
        var column: ColumnID
    }

    /// Reads the first line of a recording.
    init?(_ json: JSONValue) {
        guard let head = json.objectValue, let name = head["class"]?.stringValue,
            let classes = head["schema"]?.arrayValue?.compactMap(Self.type), let objects = head["objects"]?.objectValue
        else { return nil }
        className = ByteString(name)
        schema = QuerySchema(classes)
        for type in classes where !type.isEmbedded {
            for object in objects[type.name.string]?.arrayValue ?? [] {
                guard let members = object.objectValue, add(members, type) else { return nil }
            }
        }
    }

    private mutating func add(_ members: [String: JSONValue], _ type: QueryClass) -> Bool {
        var key = ObjectKey.null
        for (name, json) in members where type[ByteString(name)]?.slot == .key {
            guard let found = RecordedValue.value(json).flatMap(RecordedValue.key) else { return false }
            key = found
        }
        guard let object = object(members, type) else { return false }
        let address = ObjectAddress(type.name, key)
        objects[address] = object
        rows[type.name, default: []].append(QueryRow(key: key, object: object))
        for entry in object.entries { index(entry.value, Origin(address: address, column: entry.column)) }
        return true
    }

    private mutating func index(_ value: Value, _ origin: Origin) {
        switch value {
        case .link(let target): incoming[target, default: []].append(origin)
        case .list(let items), .set(let items): for item in items { index(item, origin) }
        case .dictionary(let entries):
            for entry in entries.sorted(by: { $0.key < $1.key }) { index(entry.value, origin) }
        default: break
        }
    }

    private func object(_ members: [String: JSONValue], _ type: QueryClass) -> StoredObject? {
        var values: [ColumnID: Value] = [:]
        for (name, json) in members {
            guard let property = type[ByteString(name)] else { return nil }
            guard case .column(let column) = property.slot else { continue }
            guard let value = value(json, property) else { return nil }
            values[column] = value
        }
        return StoredObject(values)
    }

    private func value(_ json: JSONValue, _ property: QueryProperty) -> Value? {
        guard let target = property.target.flatMap({ schema[$0] }), target.isEmbedded else {
            guard let value = RecordedValue.value(json) else { return nil }
            if property.collection == .set, case .list(let items) = value { return .set(items) }
            return value
        }
        switch (property.collection, json) {
        case (.list, .array(let items)): return .list(items.compactMap { embedded($0, target) })
        case (.dictionary, .object(let entries)):
            var result: [ByteString: Value] = [:]
            for (key, entry) in entries["$dict"]?.objectValue ?? [:] {
                result[ByteString(key)] = embedded(entry, target)
            }
            return .dictionary(result)
        default: return embedded(json, target)
        }
    }

    private func embedded(_ json: JSONValue, _ type: QueryClass) -> Value? {
        guard let members = json.objectValue else { return json == .null ? .null : nil }
        return object(members, type).map { .embedded($0) }
    }

    // MARK: Schema

    private static func type(_ json: JSONValue) -> QueryClass? {
        guard let name = json.objectValue?["name"]?.stringValue,
            let properties = json.objectValue?["properties"]?.arrayValue
        else { return nil }
        let key = json.objectValue?["primaryKey"]?.stringValue
        return QueryClass(
            name: ByteString(name), isEmbedded: json.objectValue?["embedded"] == .bool(true),
            properties: properties.enumerated().compactMap { property($0.element, UInt32($0.offset), key) })
    }

    private static func property(_ json: JSONValue, _ number: UInt32, _ key: String?) -> QueryProperty? {
        guard let members = json.objectValue, let name = members["name"]?.stringValue,
            let type = members["type"]?.stringValue.flatMap(QueryType.init(rawValue:))
        else { return nil }
        let collections: [String: CollectionType] = ["list": .list, "set": .set, "dictionary": .dictionary]
        let collection = members["collection"]?.stringValue.flatMap { collections[$0] } ?? .single
        let isNullable = members["optional"] == .bool(true)
        let column = ColumnID(rawValue: number)
        let target = members["target"]?.stringValue.map { ByteString($0) }
        let element = ElementType(type: type.payloadType, nullable: isNullable, target: target)
        let schema = ColumnSchema(id: column, name: ByteString(name), element: element, collection: collection)
        return QueryProperty(
            name: ByteString(name), type: type, collection: collection, isNullable: isNullable, target: target,
            isFullText: members["fulltext"] == .bool(true), slot: name == key ? .key : .column(column),
            defaultValue: schema.defaultValue)
    }

    // MARK: QueryGraph

    func object(at address: ObjectAddress) -> (any QueryObject)? { objects[address] }

    func origins(of address: ObjectAddress, in className: ByteString, over column: ColumnID) -> [ObjectAddress] {
        (incoming[address] ?? []).filter { $0.address.className == className && $0.column == column }.map(\.address)
    }

    func incomingLinkCount(of address: ObjectAddress) -> Int { incoming[address]?.count ?? 0 }
}

extension QueryType {
    fileprivate var payloadType: PayloadType {
        switch self {
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .mixed, .typeName, .null: .null
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .link: .link
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }
}
