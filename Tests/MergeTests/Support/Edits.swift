import Changesets

/// Short ways to write instructions. All tests share one table of strings, so that instructions of different changesets
/// can be compared as they are.
enum Names {
    static let table: InternTable = {
        var table = InternTable()
        for name in ["", "Dog", "Person", "id", "x", "y", "l", "s", "d", "any", "emb", "k", "j", "street", "dog", "e"] {
            _ = table.intern(ByteString(name))
        }
        return table
    }()

    static func intern(_ name: String) -> InternedString {
        table.find(ByteString(name)) ?? InternedString(.max)
    }
}

func changeset(_ instructions: [Instruction]) -> Changeset {
    Changeset(strings: Names.table, instructions: instructions)
}

extension PathElement: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    package init(integerLiteral value: UInt32) { self = .index(value) }
    package init(stringLiteral value: String) { self = .key(Names.intern(value)) }
}

extension FieldPath {
    /// A path in `Dog[object]`.
    static func at(
        _ field: String, _ path: PathElement..., object: Int64 = 1, table: String = "Dog"
    ) -> FieldPath {
        FieldPath(
            table: Names.intern(table), object: .int(object), field: Names.intern(field), path: PathElements(path))
    }
}

extension Instruction {
    // MARK: Schema and objects

    static func addTable(
        _ table: String, key: String = "id", _ type: PayloadType = .int, nullable: Bool = false,
        asymmetric: Bool = false
    ) -> Instruction {
        .addTable(
            AddTable(
                table: Names.intern(table),
                kind: .topLevel(
                    keyField: Names.intern(key), keyType: type, keyNullable: nullable, asymmetric: asymmetric)))
    }

    static func addEmbedded(_ table: String) -> Instruction {
        .addTable(AddTable(table: Names.intern(table), kind: .embedded))
    }

    static func eraseTable(_ table: String) -> Instruction { .eraseTable(table: Names.intern(table)) }

    static func addColumn(
        _ field: String, _ type: PayloadType = .int, nullable: Bool = false, _ collection: CollectionType = .single,
        target: String? = nil, in table: String = "Dog"
    ) -> Instruction {
        .addColumn(
            AddColumn(
                table: Names.intern(table), field: Names.intern(field), type: type, nullable: nullable,
                collection: collection, linkTarget: target.map(Names.intern),
                keyType: collection == .dictionary ? .string : nil))
    }

    static func eraseColumn(_ field: String, in table: String = "Dog") -> Instruction {
        .eraseColumn(table: Names.intern(table), field: Names.intern(field))
    }

    static func create(_ object: Int64 = 1, in table: String = "Dog") -> Instruction {
        .createObject(table: Names.intern(table), object: .int(object))
    }

    static func erase(_ object: Int64 = 1, in table: String = "Dog") -> Instruction {
        .eraseObject(table: Names.intern(table), object: .int(object))
    }

    // MARK: Values

    static func set(_ path: FieldPath, _ value: Payload, isDefault: Bool = false) -> Instruction {
        .update(Update(target: path, value: value, qualifier: .isDefault(isDefault)))
    }

    static func set(_ path: FieldPath, _ value: Payload, of size: UInt32) -> Instruction {
        .update(Update(target: path, value: value, qualifier: .priorSize(size)))
    }

    static func add(_ path: FieldPath, _ delta: Int64) -> Instruction { .addInteger(path, delta: delta) }

    static func insert(_ path: FieldPath, _ value: Payload = .int(9), of size: UInt32) -> Instruction {
        .arrayInsert(path, value: value, priorSize: size)
    }

    static func move(_ path: FieldPath, to: UInt32, of size: UInt32) -> Instruction {
        .arrayMove(path, to: to, priorSize: size)
    }

    static func remove(_ path: FieldPath, of size: UInt32) -> Instruction { .arrayErase(path, priorSize: size) }

    // MARK: A list of three

    static func insert(_ index: UInt32, _ value: Payload = .int(9), of size: UInt32 = 3) -> Instruction {
        .insert(.at("l", .index(index)), value, of: size)
    }

    static func move(_ from: UInt32, _ to: UInt32, of size: UInt32 = 3) -> Instruction {
        .move(.at("l", .index(from)), to: to, of: size)
    }

    static func remove(_ index: UInt32, of size: UInt32 = 3) -> Instruction {
        .remove(.at("l", .index(index)), of: size)
    }

    static func assign(_ index: UInt32, _ value: Payload = .int(7), of size: UInt32 = 3) -> Instruction {
        .set(.at("l", .index(index)), value, of: size)
    }
}
