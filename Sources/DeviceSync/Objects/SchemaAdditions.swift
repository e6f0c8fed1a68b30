internal import Changesets
internal import RealmState

/// Brings a file's schema up to what the app declares: classes and properties are added, never changed or removed.
enum SchemaAdditions {
    /// How a file is synced.
    enum Mode { case local, partition, flexible }

    /// Whether something would be added.
    /// - Throws: `Realm.Error` with code `schemaMismatch`.
    static func areNeeded(_ declared: [ObjectSchemaDescription], in schema: StoredSchema, mode: Mode) throws -> Bool {
        var isNeeded = false
        let kinds = Dictionary(
            schema.tables.map { ($0.name.string, $0.kind) } + declared.map { ($0.name, tableType($0)) },
            uniquingKeysWith: { $1 })
        for description in declared {
            try check(description, kinds: kinds, mode: mode)
            guard let table = schema.table(ByteString(description.name)) else {
                isNeeded = true
                continue
            }
            guard table.kind == tableType(description), table.key == key(description) else {
                throw mismatch("class \(description.name) exists with another kind or primary key")
            }
            for property in description.properties {
                guard let column = table.column(ByteString(property.name)) else {
                    isNeeded = true
                    continue
                }
                guard column.element == property.element, column.collection == property.collectionType else {
                    throw mismatch("property \(description.name).\(property.name) exists with another type")
                }
            }
        }
        return isNeeded
    }

    /// Adds what is missing: all classes first, since properties may link to any of them.
    static func apply(_ declared: [ObjectSchemaDescription], to transaction: inout RecordingTransaction) throws {
        for description in declared {
            let name = ByteString(description.name)
            if let key = key(description) {
                try transaction.createTable(name, key: key, isAsymmetric: description.kind == .asymmetric)
            } else {
                try transaction.createEmbeddedTable(name)
            }
        }
        for description in declared {
            for property in description.properties {
                try transaction.addColumn(
                    ByteString(description.name), ByteString(property.name), property.element,
                    collection: property.collectionType)
            }
        }
    }

    private static func check(
        _ description: ObjectSchemaDescription, kinds: [String: TableType], mode: Mode
    ) throws {
        if description.kind == .asymmetric, mode != .flexible {
            throw mismatch("class \(description.name) is asymmetric, which only realms with flexible sync can have")
        }
        if mode != .local, description.kind != .embedded, description.primaryKey?.name != "_id" {
            throw mismatch("the primary key of the synced class \(description.name) is not named _id")
        }
        for property in description.properties {
            guard case .object(let target) = property.type else { continue }
            guard !target.isEmpty else {
                guard mode == .local else {
                    throw mismatch(
                        "\(description.name).\(property.name) links to objects of any class, which the properties of a synced"
                            + " realm cannot; declare it as .any")
                }
                continue
            }
            guard let kind = kinds[target] else {
                throw mismatch("\(description.name).\(property.name) links to \(target), which is not in the schema")
            }
            guard kind != .asymmetric else {
                throw mismatch(
                    "\(description.name).\(property.name) links to \(target), whose objects are uploaded and not kept")
            }
        }
    }

    static func tableType(_ description: ObjectSchemaDescription) -> TableType {
        switch description.kind {
        case .topLevel: .topLevel
        case .embedded: .embedded
        case .asymmetric: .asymmetric
        }
    }

    static func key(_ description: ObjectSchemaDescription) -> KeySchema? {
        guard description.kind != .embedded else { return nil }
        return description.primaryKey.map {
            KeySchema(name: ByteString($0.name), type: $0.payloadType, nullable: $0.isOptional)
        } ?? KeySchema(name: "", type: .globalKey, nullable: false)
    }

    private static func mismatch(_ message: String) -> Realm.Error { Realm.Error(.schemaMismatch, message) }
}
