import Changesets
import Documents
import ExtendedJSON
import RealmState
import SeededRandom

/// A realm with properties of every type and collection.
enum AllTypes {
    static let scalars: [(name: String, type: PayloadType)] = [
        ("int", .int), ("bool", .bool), ("string", .string), ("binary", .binary), ("date", .timestamp),
        ("float", .float), ("double", .double), ("decimal", .decimal), ("oid", .objectID), ("uuid", .uuid),
    ]

    /// Things, which have everything, people, whom they link to, and addresses, which are embedded.
    static func state() throws -> RealmState {
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("Person", key: KeySchema(name: "_id", type: .string, nullable: false))
            try transaction.addColumn("Person", "age", ElementType(type: .int, nullable: false))
            try transaction.createEmbeddedTable("Point")
            try transaction.addColumn("Point", "x", ElementType(type: .double, nullable: false))
            try transaction.addColumn("Point", "n", ElementType(type: .int, nullable: true))
            try transaction.createEmbeddedTable("Address")
            try transaction.addColumn("Address", "city", ElementType(type: .string, nullable: true))
            try transaction.addColumn("Address", "zip", ElementType(type: .int, nullable: true))
            try transaction.addColumn(
                "Address", "lines", ElementType(type: .string, nullable: false), collection: .list)
            try transaction.addColumn("Address", "point", ElementType(type: .link, nullable: true, target: "Point"))
            try transaction.createTable("Thing", key: KeySchema(name: "_id", type: .int, nullable: false))
            for (name, type) in scalars {
                let required = ElementType(type: type, nullable: false)
                let optional = ElementType(type: type, nullable: true)
                try transaction.addColumn("Thing", ByteString("\(name)R"), required)
                try transaction.addColumn("Thing", ByteString("\(name)O"), optional)
                try transaction.addColumn("Thing", ByteString("\(name)L"), required, collection: .list)
                try transaction.addColumn("Thing", ByteString("\(name)LO"), optional, collection: .list)
                try transaction.addColumn("Thing", ByteString("\(name)S"), required, collection: .set)
                try transaction.addColumn("Thing", ByteString("\(name)D"), optional, collection: .dictionary)
            }
            for (suffix, collection) in [("", CollectionType.single), ("L", .list), ("D", .dictionary)] {
                try transaction.addColumn("Thing", ByteString("mixed\(suffix)"), .mixed, collection: collection)
                let address = ElementType(type: .link, nullable: collection != .list, target: "Address")
                try transaction.addColumn("Thing", ByteString("address\(suffix)"), address, collection: collection)
                let person = ElementType(
                    type: .link, nullable: collection == .single || collection == .dictionary, target: "Person")
                try transaction.addColumn("Thing", ByteString("person\(suffix)"), person, collection: collection)
            }
            try transaction.addColumn("Thing", "mixedS", .mixed, collection: .set)
            try transaction.addColumn(
                "Thing", "personS", ElementType(type: .link, nullable: false, target: "Person"), collection: .set)
        }
        return state
    }
}

/// Documents at random, by a realm's schema.
struct RandomDocuments {
    let schema: Schema
    var random: SeededGenerator
    /// Few values make collisions likely, so that elements are equal and filters select something.
    var isNarrow = false

    init(_ schema: Schema, seed: UInt64, isNarrow: Bool = false) {
        self.schema = schema
        random = SeededGenerator(seed: seed)
        self.isNarrow = isNarrow
    }

    private mutating func chance(_ count: Int) -> Bool { random.below(count) == 0 }

    /// A document with all properties, in their order.
    mutating func document(_ className: ByteString, key: BSONValue? = nil) -> BSONDocument {
        var document = BSONDocument()
        guard let table = schema.table(className) else { return document }
        if let name = table.key?.name { document[name] = key ?? scalar(table.key?.type ?? .int) }
        for column in table.columns { document[column.name] = value(column) }
        return document
    }

    mutating func value(_ column: ColumnSchema) -> BSONValue {
        switch column.collection {
        case .single: return element(column.element, inList: false)
        case .set: return .array((0..<random.below(4)).map { _ in member(column.element) })
        case .list: return .array((0..<random.below(4)).map { _ in element(column.element, inList: true) })
        case .dictionary:
            var document = BSONDocument()
            for _ in 0..<random.below(4) { document[key()] = element(column.element, inList: false) }
            return .document(document)
        }
    }

    /// A member of a set: no two of them are equal but for their types or their zeros.
    private mutating func member(_ element: ElementType) -> BSONValue {
        switch element.type {
        case .null:
            return random.below(3) == 0
                ? ["$ref": "Person", "$id": scalar(.string)] : scalar([.string, .bool, .int][random.below(3)])
        case .decimal:
            return .decimal128(
                Decimal128Value(isNegative: false, digits: [UInt8(random.below(9))], exponent: 0) ?? .nan)
        default: return self.element(element, inList: true)
        }
    }

    mutating func key() -> ByteString { ["a", "b", "ключ", "a b"][random.below(isNarrow ? 2 : 4)] }

    mutating func element(_ element: ElementType, inList: Bool) -> BSONValue {
        if element.isMixed { return mixed(depth: 2) }
        if element.type == .link {
            if !inList, chance(3) { return .null }
            guard let target = element.target, let table = schema.table(target) else { return .null }
            guard table.kind == .embedded else { return scalar(table.key?.type ?? .string) }
            var document = BSONDocument()
            for column in table.columns { document[column.name] = value(column) }
            return .document(document)
        }
        if element.nullable, chance(4) { return .null }
        return scalar(element.type)
    }

    mutating func mixed(depth: Int) -> BSONValue {
        switch random.below(depth > 0 ? 9 : 6) {
        case 0: return .null
        case 1: return ["$ref": "Person", "$id": scalar(.string)]
        case 2, 3, 4, 5:
            let types: [PayloadType] = [.int, .bool, .string, .binary, .timestamp, .double, .decimal, .objectID, .uuid]
            return scalar(types[random.below(types.count)])
        case 6, 7: return .array((0..<random.below(3)).map { _ in mixed(depth: depth - 1) })
        default:
            var document = BSONDocument()
            for _ in 0..<random.below(3) { document[key()] = mixed(depth: depth - 1) }
            return .document(document)
        }
    }

    mutating func scalar(_ type: PayloadType) -> BSONValue {
        let small = random.below(isNarrow ? 3 : 1_000) - 1
        let bits = random.next()
        switch type {
        case .bool: return .bool(small & 1 == 0)
        case .string:
            return isNarrow
                ? ["a", "b", "ab"][random.below(3)] : ["", "a", "é\u{0}\"", "\u{1F600}", "long text"][random.below(5)]
        case .binary: return .binary((0..<random.below(3)).map { UInt8($0) }, subtype: 0)
        case .timestamp: return .date(isNarrow ? Int64(small) : Int64(bitPattern: bits) >> Int64(10 + random.below(54)))
        case .float:
            return .double(isNarrow ? Double(small) / 2 : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
        case .double: return .double(isNarrow ? Double(small) / 2 : Double(bitPattern: bits))
        case .decimal:
            let digits = String(small.magnitude).utf8.map { $0 - 0x30 }
            return .decimal128(
                Decimal128Value(isNegative: small < 0, digits: digits, exponent: isNarrow ? 0 : random.below(9) - 4)
                    ?? .nan)
        case .objectID: return .objectID(ObjectIDValue(high: isNarrow ? 1 : bits, low: UInt32(small + 1)))
        case .uuid: return .uuid(UUIDValue(high: isNarrow ? 1 : bits, low: UInt64(small + 1)))
        default: return BSONValue(isNarrow ? Int64(small) : Int64(bitPattern: bits) >> Int64(random.below(64)))
        }
    }
}

extension BSONDocument {
    /// The fields as texts, in which two documents are equal that say the same: sets and dictionaries have no order of their own.
    func texts(_ table: TableSchema) -> [ByteString: String] {
        var texts: [ByteString: String] = [:]
        for member in self {
            var value = member.value
            if table.column(member.key)?.collection == .set, case .array(let members) = value {
                let unique = Dictionary(members.map { (ExtendedJSONWriter.text(of: $0, .canonical), $0) }) { first, _ in
                    first
                }
                value = .array(unique.sorted { $0.key < $1.key }.map(\.value))
            }
            texts[member.key] = ExtendedJSONWriter.text(of: value.sorted, .canonical)
        }
        return texts
    }

    /// The fields in which two documents differ; empty if they say the same.
    func differences(from other: BSONDocument, _ table: TableSchema) -> [String] {
        let (left, right) = (texts(table), other.texts(table))
        return Set(left.keys).union(right.keys).filter { left[$0] != right[$0] }.sorted().map {
            "\($0): \(left[$0] ?? "-") instead of \(right[$0] ?? "-")"
        }
    }
}

extension BSONValue {
    /// The value with members of objects in the order of their keys.
    var sorted: BSONValue {
        switch self {
        case .array(let items): .array(items.map(\.sorted))
        case .document(let document):
            .document(BSONDocument(document.members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted) }))
        default: self
        }
    }
}
