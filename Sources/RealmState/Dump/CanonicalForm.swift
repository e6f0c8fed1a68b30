import Changesets

/// Bytes that are equal exactly when two peers hold the same: nothing in them depends on numbers of tables and columns,
/// on the order in which things were created, or on whether a default was written or left out.
struct CanonicalForm {
    let schema: Schema
    var writer = VarintWriter()

    init(schema: Schema) { self.schema = schema }

    mutating func writeSchema() {
        for table in schema.tables.sorted(by: { $0.name < $1.name }) {
            writer.write(lengthAnd: table.name)
            writer.write(UInt64(table.kind.rawValue))
            if let key = table.key {
                writer.write(lengthAnd: key.name)
                writer.write(key.type.rawValue)
                writer.write(key.nullable)
            }
            writer.write(UInt64(table.columns.count))
            for column in table.columnsByName {
                writer.write(lengthAnd: column.name)
                writer.write(column.element.type.rawValue)
                writer.write(column.element.nullable)
                writer.write(lengthAnd: column.element.target ?? "")
                writer.write(UInt64(column.collection.rawValue))
            }
        }
    }

    mutating func write(_ object: StoredObject, of table: TableSchema) {
        for column in table.columnsByName {
            writer.write(lengthAnd: column.name)
            write(object[column], element: column.element)
        }
    }

    private mutating func write(_ value: Value, element: ElementType) {
        switch value {
        case .list(let items), .set(let items):
            writer.write(Payload(unlinked: value))
            writer.write(UInt64(items.count))
            for item in items {
                write(item, element: element)
            }
        case .dictionary(let entries):
            writer.write(PayloadType.dictionary.rawValue)
            writer.write(UInt64(entries.count))
            for (key, item) in entries.sorted(by: { $0.key < $1.key }) {
                writer.write(lengthAnd: key)
                write(item, element: element)
            }
        case .embedded(let object):
            writer.write(PayloadType.objectValue.rawValue)
            guard let table = schema.embeddedTarget(of: element) else { return }
            write(object, of: table)
        case .null, .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid, .link:
            writer.write(value)
        }
    }
}

extension TableSchema {
    var columnsByName: [ColumnSchema] { columns.sorted { $0.name < $1.name } }
}
