import Changesets
import Documents
import ExtendedJSON
import RealmState
import SeededRandom

/// Writes at random to few documents with few values, so that they meet each other.
struct RandomWrites {
    var documents: RandomDocuments
    let table: TableSchema

    init(_ schema: Schema, seed: UInt64) throws {
        documents = RandomDocuments(schema, seed: seed, isNarrow: true)
        table = try DocumentMapping(schema: schema).table("Thing")
    }

    private mutating func below(_ count: Int) -> Int { documents.random.below(count) }
    private mutating func key() -> BSONValue { BSONValue(Int64(below(4))) }

    /// - Parameter plain: what is there, so that paths lead somewhere.
    mutating func write(_ plain: PlainDocuments) -> DocumentWrite {
        let key = key()
        switch below(12) {
        case 0, 1: return DocumentWrite("Thing", .insert(documents.document("Thing", key: key)))
        case 2:
            return DocumentWrite(
                "Thing", .upsert(plain["Thing", key] == nil ? documents.document("Thing", key: key) : partial(key)))
        case 3: return DocumentWrite("Thing", .replace(id: key, documents.document("Thing", key: key)))
        case 4: return DocumentWrite("Thing", .delete(.id(key)))
        case 5:
            let filter = filter(depth: 1)
            // What is pulled and added fits every document.
            return DocumentWrite("Thing", .update(.filter(filter, many: below(2) == 0), updates(nil)))
        default: return DocumentWrite("Thing", .update(.id(key), updates(plain["Thing", key])))
        }
    }

    private mutating func partial(_ key: BSONValue) -> BSONDocument {
        var document: BSONDocument = ["_id": key]
        for column in table.columns where below(8) == 0 { document[column.name] = documents.value(column) }
        return document
    }

    private mutating func updates(_ document: BSONDocument?) -> [FieldUpdate] {
        var updates: [FieldUpdate] = []
        for column in table.columns where below(10) == 0 {
            if let update = update(column, document) { updates.append(update) }
        }
        return updates
    }

    private func made(_ path: String, _ op: FieldUpdate.Operator) -> FieldUpdate? {
        (try? DocumentPath(ByteString(path), maxElements: 8)).map { FieldUpdate($0, op) }
    }

    private mutating func update(_ column: ColumnSchema, _ document: BSONDocument?) -> FieldUpdate? {
        let name = column.name.string
        let element = column.element
        if below(4) == 0 { return made(name, .set(documents.value(column))) }
        switch column.collection {
        case .single: return singleUpdate(column, document)
        case .set:
            let values = (0..<below(3)).map { _ in documents.element(element, inList: true) }
            guard element.type != .null, element.type != .decimal else { return nil }
            return made(name, below(2) == 0 ? .addToSet(values) : .pull(documents.element(element, inList: true)))
        case .list:
            let values = (0..<below(3)).map { _ in documents.element(element, inList: true) }
            switch below(5) {
            case 0: return made(name, .push(values, position: nil))
            case 1: return made(name, .push(values, position: below(4)))
            case 2: return element.isMixed ? nil : made(name, .addToSet(values))
            case 3:
                if element.isMixed || element.target == "Address" {
                    return element.isMixed ? nil : made(name, .pull(["city": documents.scalar(.string)]))
                }
                let operand = documents.element(element, inList: true)
                return made(
                    name,
                    .pull(below(2) == 0 || element.type == .link ? operand : ["$gt": documents.scalar(element.type)]))
            default:
                guard let count = document?[column.name]?.array?.count, count > 0 else { return nil }
                return made("\(name).\(below(count + 1))", .set(documents.element(element, inList: true)))
            }
        case .dictionary:
            let key = documents.key().string
            switch below(3) {
            case 0: return made("\(name).\(key)", .unset)
            case 1 where element.type == .int: return made("\(name).\(key)", .increment(1))
            default: return made("\(name).\(key)", .set(documents.element(element, inList: false)))
            }
        }
    }

    private mutating func singleUpdate(_ column: ColumnSchema, _ document: BSONDocument?) -> FieldUpdate? {
        let name = column.name.string
        switch column.element.type {
        case .int:
            switch below(4) {
            case 0: return made(name, .multiply(BSONValue(Int64(below(3)))))
            case 1: return made(name, .min(documents.scalar(.int)))
            case 2: return made(name, .max(documents.scalar(.int)))
            default: return made(name, .increment(documents.scalar(.int)))
            }
        case .double: return made(name, below(2) == 0 ? .increment(documents.scalar(.double)) : .multiply(.double(2)))
        case .bool, .string, .timestamp, .objectID, .uuid:
            let operand = documents.scalar(column.element.type)
            return made(name, below(2) == 0 ? .min(operand) : .max(operand))
        case .link where column.element.target == "Address":
            guard document?[column.name]?.document != nil else { return nil }
            switch below(4) {
            case 0: return made("\(name).zip", .increment(1))
            case 1: return made("\(name).lines", .push([documents.scalar(.string)], position: nil))
            case 2: return made("\(name).point.x", .set(documents.scalar(.double)))
            default: return made("\(name).city", .set(documents.scalar(.string)))
            }
        case .null:
            guard case .document(let inner)? = document?[column.name], inner["$ref"] == nil else { return nil }
            return made("\(name).\(documents.key().string)", .set(documents.mixed(depth: 1)))
        default: return column.element.nullable ? made(name, .unset) : nil
        }
    }

    // MARK: Filters

    mutating func filter(depth: Int) -> BSONDocument {
        var filter = BSONDocument()
        for _ in 0...below(2) {
            switch below(depth > 0 ? 6 : 4) {
            case 4:
                filter[["$and", "$or", "$nor"][below(3)]] = .array(
                    (0...below(2)).map { _ in .document(self.filter(depth: depth - 1)) })
            default:
                let (path, type, isList) = path()
                filter[path] = condition(type, isList, depth: depth)
            }
        }
        return filter
    }

    private mutating func path() -> (ByteString, PayloadType, isList: Bool) {
        let (name, type) = AllTypes.scalars[below(AllTypes.scalars.count)]
        switch below(12) {
        case 0: return ("_id", .int, false)
        case 1: return ("address.city", .string, false)
        case 2: return ("address.point.x", .double, false)
        case 3: return ("addressL.city", .string, false)
        case 4: return ("addressL.0.zip", .int, false)
        case 5: return (ByteString("\(name)D.a"), type, false)
        case 6: return (ByteString("\(name)L"), type, true)
        case 7: return (ByteString("\(name)S"), type, true)
        case 8: return ("person", .link, false)
        case 9: return (ByteString("\(name)L.0"), type, false)
        case 10: return (ByteString("\(name)R"), type, false)
        default: return (ByteString("\(name)O"), type, false)
        }
    }

    private mutating func condition(_ type: PayloadType, _ isList: Bool, depth: Int) -> BSONValue {
        // Links have no order.
        if type == .link { return [documents.scalar(.string), .null, ["$ne": documents.scalar(.string)]][below(3)] }
        switch below(12) {
        case 0: return documents.scalar(type)
        case 1: return .null
        case 2: return ["$ne": documents.scalar(type)]
        case 3: return ["$in": .array((0..<below(3)).map { _ in below(5) == 0 ? .null : documents.scalar(type) })]
        case 4: return ["$nin": .array((0..<below(3)).map { _ in documents.scalar(type) })]
        case 5: return ["$exists": .bool(below(2) == 0)]
        case 6 where isList: return ["$size": BSONValue(Int64(below(3)))]
        case 7 where isList: return ["$all": .array((0..<below(3)).map { _ in documents.scalar(type) })]
        case 8 where depth > 0: return ["$not": ["$gte": documents.scalar(type)]]
        case 9 where type == .string:
            let pattern: BSONValue = ["a", "^a", "b$", "^ab$", "^"][below(5)]
            return below(3) == 0 ? ["$regex": "A", "$options": "i"] : ["$regex": pattern]
        default:
            let op: ByteString = ["$lt", "$lte", "$gt", "$gte"][below(4)]
            return .document([op: documents.scalar(type)])
        }
    }
}
