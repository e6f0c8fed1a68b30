import Changesets
import ExtendedJSON
import SyncModel

/// Writes instructions as documents.
struct InstructionWriter {
    let strings: InternTable

    func document(of instruction: Instruction) throws(DocumentError) -> BSONDocument {
        var document: BSONDocument = ["op": BSONValue(instruction.name)]
        document["class"] = try name(instruction.target.table)
        switch instruction {
        case .addTable(let table): try add(table.kind, to: &document)
        case .eraseTable: break
        case .createObject(_, let key), .eraseObject(_, let key): document["key"] = try value(of: key)
        case .addColumn(let column): try add(column, to: &document)
        case .eraseColumn(_, let field): document["field"] = try name(field)
        case .update(let update):
            try add(update.target, to: &document)
            document["value"] = try value(of: update.value)
            switch update.qualifier {
            case .isDefault(let isDefault): if isDefault { document["default"] = true }
            case .priorSize(let size): document["priorSize"] = BSONValue(Int64(size))
            }
        case .addInteger(let path, let delta):
            try add(path, to: &document)
            document["delta"] = BSONValue(delta)
        case .arrayInsert(let path, let value, let size):
            try add(path, to: &document)
            document["value"] = try self.value(of: value)
            document["priorSize"] = BSONValue(Int64(size))
        case .arrayMove(let path, let to, let size):
            try add(path, to: &document)
            document["to"] = BSONValue(Int64(to))
            document["priorSize"] = BSONValue(Int64(size))
        case .arrayErase(let path, let size):
            try add(path, to: &document)
            document["priorSize"] = BSONValue(Int64(size))
        case .clear(let path, let collection):
            try add(path, to: &document)
            document["collection"] = InstructionWord.name(of: collection).map { .string($0) }
        case .setInsert(let path, let value), .setErase(let path, let value):
            try add(path, to: &document)
            document["value"] = try self.value(of: value)
        }
        return document
    }

    private func add(_ kind: Instruction.AddTable.Kind, to document: inout BSONDocument) throws(DocumentError) {
        switch kind {
        case .embedded: document["embedded"] = true
        case .topLevel(let field, let type, let nullable, let asymmetric):
            var key: BSONDocument = ["name": try name(field)]
            key["type"] = InstructionWord.name(of: type).map { .string($0) }
            if nullable { key["nullable"] = true }
            document["key"] = .document(key)
            if asymmetric { document["asymmetric"] = true }
        }
    }

    private func add(_ column: Instruction.AddColumn, to document: inout BSONDocument) throws(DocumentError) {
        document["field"] = try name(column.field)
        document["type"] = InstructionWord.name(of: column.type).map { .string($0) }
        document["nullable"] = .bool(column.nullable)
        if column.collection != .single {
            document["collection"] = InstructionWord.name(of: column.collection).map { .string($0) }
        }
        if let target = column.linkTarget { document["target"] = try name(target) }
        if let type = column.keyType { document["keyType"] = InstructionWord.name(of: type).map { .string($0) } }
    }

    private func add(_ path: FieldPath, to document: inout BSONDocument) throws(DocumentError) {
        document["key"] = try value(of: path.object)
        var elements = [try name(path.field)]
        for element in path.path {
            switch element {
            case .index(let index): elements.append(BSONValue(Int64(index)))
            case .key(let key): elements.append(try name(key))
            }
        }
        document["path"] = .array(elements)
    }

    private func name(_ string: InternedString) throws(DocumentError) -> BSONValue {
        guard let text = strings[string] else {
            throw DocumentError(.invalidValue, "string \(string.index) is not in the changeset's table")
        }
        return try self.text(text)
    }

    private func text(_ text: ByteString) throws(DocumentError) -> BSONValue {
        guard String(validating: text.bytes, as: UTF8.self) != nil else {
            throw DocumentError(.invalidValue, "expected UTF-8, came the bytes \(HexBytes(text.bytes).hex.prefix(64))")
        }
        return .string(text)
    }

    private func value(of key: PrimaryKey) throws(DocumentError) -> BSONValue {
        switch key {
        case .null: .null
        case .int(let value): BSONValue(value)
        case .string(let string): try name(string)
        case .globalKey(let high, let low):
            ["$globalKey": BSONValue(ObjectID.hex(high, digits: 16) + ObjectID.hex(low, digits: 16))]
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }

    private func value(of payload: Payload) throws(DocumentError) -> BSONValue {
        switch payload {
        case .set, .list, .dictionary, .objectValue:
            ["$make": InstructionWord.name(of: payload).map { .string($0) } ?? .null]
        case .erased: ["$erased": true]
        case .null: .null
        case .int(let value): BSONValue(value)
        case .bool(let value): .bool(value)
        case .string(let text): try self.text(text)
        case .binary(let bytes): .binary(bytes, subtype: 0)
        case .timestamp(let time):
            time.nanoseconds % 1_000_000 == 0 && TimestampValue(milliseconds: time.milliseconds) == time
                ? .date(time.milliseconds) : ["$time": [BSONValue(time.seconds), BSONValue(Int64(time.nanoseconds))]]
        case .float(let bits): ["$floatBits": BSONValue(ObjectID.hex(UInt64(bits), digits: 8))]
        case .double(let bits):
            Double(bitPattern: bits).isNaN
                ? ["$doubleBits": BSONValue(ObjectID.hex(bits, digits: 16))] : .double(Double(bitPattern: bits))
        case .decimal(let value):
            Decimal128Value(value.text) == value
                ? .decimal128(value)
                : [
                    "$decimalBits": BSONValue(
                        ObjectID.hex(value.high, digits: 16) + ObjectID.hex(value.low, digits: 16))
                ]
        case .link(let table, let key): ["$ref": try name(table), "$id": try value(of: key)]
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        }
    }
}
