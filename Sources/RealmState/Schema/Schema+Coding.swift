import Changesets

/// The form in which stores keep a schema.
extension Schema {
    private static let formatVersion: UInt64 = 1

    package func encoded() -> [UInt8] {
        var writer = VarintWriter()
        writer.write(Self.formatVersion)
        writer.write(nextTableID)
        writer.write(UInt64(tables.count))
        for table in tables {
            writer.write(table.id.rawValue)
            writer.write(lengthAnd: table.name)
            writer.write(UInt64(table.kind.rawValue))
            if let key = table.key {
                writer.write(lengthAnd: key.name)
                writer.write(key.type.rawValue)
                writer.write(key.nullable)
            }
            writer.write(table.nextColumnID)
            writer.write(UInt64(table.columns.count))
            for column in table.columns {
                writer.write(column)
            }
        }
        return writer.bytes
    }

    /// - Throws: `corrupt`.
    package init(decoding bytes: [UInt8]) throws(RealmStateError) {
        self.init()
        do throws(ChangesetError) {
            var reader = VarintReader(bytes)
            guard try reader.readUInt64() == Self.formatVersion else { throw reader.malformed("unknown version") }
            let nextTableID = try reader.readUInt32()
            let count = try reader.readCount()
            var tables: [TableSchema] = []
            var names: Set<ByteString> = []
            for _ in 0..<count {
                let table = try reader.readTableSchema()
                guard table.id.rawValue < nextTableID, names.insert(table.name).inserted else {
                    throw reader.malformed("table number or name out of order")
                }
                tables.append(table)
            }
            restore(tables: tables, nextTableID: nextTableID)
        } catch {
            throw .corrupt("stored schema: \(error)")
        }
    }
}

extension VarintWriter {
    fileprivate mutating func write(_ column: ColumnSchema) {
        write(column.id.rawValue)
        write(lengthAnd: column.name)
        write(column.element.type.rawValue)
        write(column.element.nullable)
        write(UInt64(column.collection.rawValue))
        if column.element.type == .link { write(lengthAnd: column.element.target ?? "") }
        if column.collection == .dictionary { write((column.keyType ?? .string).rawValue) }
    }
}

extension VarintReader {
    /// A number of things of at least one byte each, checked against the bytes that remain.
    mutating func readCount() throws(ChangesetError) -> Int {
        let count = try readUInt64()
        guard count <= UInt64(remaining) else { throw malformed("truncated input: \(count) elements announced") }
        return Int(count)
    }

    fileprivate mutating func readTableSchema() throws(ChangesetError) -> TableSchema {
        let id = TableID(rawValue: try readUInt32())
        let name = try readString()
        guard let kind = TableType(rawValue: try readUInt8()) else { throw malformed("unknown kind of table") }
        var key: KeySchema?
        if kind != .embedded {
            let keyName = try readString()
            key = KeySchema(name: keyName, type: try readPayloadType(), nullable: try readBool())
        }
        let nextColumnID = try readUInt32()
        let count = try readCount()
        var table = TableSchema(id: id, name: name, kind: kind, key: key)
        var columns: [ColumnSchema] = []
        var names: Set<ByteString> = []
        for _ in 0..<count {
            let column = try readColumnSchema()
            guard column.id.rawValue < nextColumnID, names.insert(column.name).inserted else {
                throw malformed("column number or name out of order")
            }
            columns.append(column)
        }
        table.restore(columns: columns, nextColumnID: nextColumnID)
        return table
    }

    private mutating func readColumnSchema() throws(ChangesetError) -> ColumnSchema {
        let id = ColumnID(rawValue: try readUInt32())
        let name = try readString()
        let type = try readPayloadType()
        let nullable = try readBool()
        guard let collection = CollectionType(rawValue: try readUInt8()) else { throw malformed("unknown collection") }
        let target = type == .link ? try readString() : nil
        let keyType = collection == .dictionary ? try readPayloadType() : nil
        let element = ElementType(type: type, nullable: nullable, target: target)
        return ColumnSchema(id: id, name: name, element: element, collection: collection, keyType: keyType)
    }
}
