/// One step below a field: a list index, or a dictionary key or embedded object's field.
package enum PathElement: Hashable, Sendable {
    case index(UInt32)
    case key(InternedString)
}

/// The place that a path instruction addresses: the field of a top-level object, and the way from there inwards.
package struct FieldPath: Hashable, Sendable {
    // In this order it takes the least memory.
    package var object: PrimaryKey
    package var table: InternedString
    package var field: InternedString
    package var path: PathElements

    package init(table: InternedString, object: PrimaryKey, field: InternedString, path: PathElements = []) {
        self.table = table
        self.object = object
        self.field = field
        self.path = path
    }

    fileprivate func isIn(_ object: PrimaryKey, of table: InternedString) -> Bool {
        self.object == object && self.table == table
    }
}

/// The instructions of the changeset format, in the order of their codes (docs/changesets.md, "Instructions").
package enum Instruction: Hashable, Sendable {
    case addTable(AddTable)
    case eraseTable(table: InternedString)
    case createObject(table: InternedString, object: PrimaryKey)
    case eraseObject(table: InternedString, object: PrimaryKey)
    case update(Update)
    case addInteger(FieldPath, delta: Int64)
    case addColumn(AddColumn)
    case eraseColumn(table: InternedString, field: InternedString)
    case arrayInsert(FieldPath, value: Payload, priorSize: UInt32)
    case arrayMove(FieldPath, to: UInt32, priorSize: UInt32)
    case arrayErase(FieldPath, priorSize: UInt32)
    case clear(FieldPath, collection: CollectionType)
    case setInsert(FieldPath, value: Payload)
    case setErase(FieldPath, value: Payload)

    package struct AddTable: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// `keyType` is int, string, objectID, uuid, or globalKey for a table without a primary key.
            case topLevel(keyField: InternedString, keyType: PayloadType, keyNullable: Bool, asymmetric: Bool)
            case embedded
        }
        package var table: InternedString
        package var kind: Kind

        package init(table: InternedString, kind: Kind) {
            self.table = table
            self.kind = kind
        }
    }

    package struct AddColumn: Hashable, Sendable {
        package var table: InternedString
        package var field: InternedString
        /// `null` means mixed.
        package var type: PayloadType
        package var nullable: Bool
        package var collection: CollectionType
        /// Present exactly if `type` is link; the empty string means an untyped link.
        package var linkTarget: InternedString?
        /// Present exactly if `collection` is dictionary.
        package var keyType: PayloadType?

        package init(
            table: InternedString, field: InternedString, type: PayloadType, nullable: Bool,
            collection: CollectionType, linkTarget: InternedString? = nil, keyType: PayloadType? = nil
        ) {
            self.table = table
            self.field = field
            self.type = type
            self.nullable = nullable
            self.collection = collection
            self.linkTarget = linkTarget
            self.keyType = keyType
        }
    }

    package struct Update: Hashable, Sendable {
        /// The part that follows the value: the list's size for an indexed update, the default flag for any other.
        package enum Qualifier: Hashable, Sendable {
            case isDefault(Bool)
            case priorSize(UInt32)
        }
        package var target: FieldPath
        package var value: Payload
        package var qualifier: Qualifier

        package init(target: FieldPath, value: Payload, qualifier: Qualifier) {
            self.target = target
            self.value = value
            self.qualifier = qualifier
        }
    }

    /// The instruction's code on the wire.
    package var code: UInt8 {
        switch self {
        case .addTable: 0
        case .eraseTable: 1
        case .createObject: 2
        case .eraseObject: 3
        case .update: 4
        case .addInteger: 5
        case .addColumn: 6
        case .eraseColumn: 7
        case .arrayInsert: 8
        case .arrayMove: 9
        case .arrayErase: 10
        case .clear: 11
        case .setInsert: 12
        case .setErase: 13
        }
    }

    /// The instruction's kind as docs/changesets.md calls it.
    package var name: String { Self.names[Int(code)] }

    /// The names of the kinds of instructions, by code.
    private static let names = [
        "AddTable", "EraseTable", "CreateObject", "EraseObject", "Update", "AddInteger", "AddColumn", "EraseColumn",
        "ArrayInsert", "ArrayMove", "ArrayErase", "Clear", "SetInsert", "SetErase",
    ]

    /// The value that the instruction carries, nil for one of a kind that carries none.
    package var payload: Payload? {
        switch self {
        case .update(let update): update.value
        case .arrayInsert(_, let value, _), .setInsert(_, let value), .setErase(_, let value): value
        default: nil
        }
    }

    /// The instruction's class, and its object and field as far as it names them.
    package var target: (table: InternedString, object: PrimaryKey?, field: InternedString?) {
        switch self {
        case .addTable(let addTable): (addTable.table, nil, nil)
        case .eraseTable(let table): (table, nil, nil)
        case .addColumn(let addColumn): (addColumn.table, nil, addColumn.field)
        case .eraseColumn(let table, let field): (table, nil, field)
        case .createObject(let table, let object), .eraseObject(let table, let object): (table, object, nil)
        case .update(let update): (update.target.table, update.target.object, update.target.field)
        case .addInteger(let path, _), .arrayInsert(let path, _, _), .arrayMove(let path, _, _),
            .arrayErase(let path, _), .clear(let path, _), .setInsert(let path, _), .setErase(let path, _):
            (path.table, path.object, path.field)
        }
    }

    /// Whether the instruction changes a field of an object, or what is inside of one.
    package func changes(_ object: PrimaryKey, of table: InternedString) -> Bool {
        switch self {
        case .update(let update): update.target.isIn(object, of: table)
        case .addInteger(let own, _), .arrayInsert(let own, _, _), .arrayMove(let own, _, _), .arrayErase(let own, _),
            .clear(let own, _), .setInsert(let own, _), .setErase(let own, _):
            own.isIn(object, of: table)
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: false
        }
    }

    /// The field path of a path instruction, nil for schema and object instructions.
    package var fieldPath: FieldPath? {
        switch self {
        case .update(let update): update.target
        case .addInteger(let path, _), .arrayInsert(let path, _, _), .arrayMove(let path, _, _),
            .arrayErase(let path, _), .clear(let path, _), .setInsert(let path, _), .setErase(let path, _):
            path
        case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn: nil
        }
    }
}
