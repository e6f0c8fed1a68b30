import Changesets

/// Instructions as people read them.
struct InstructionText {
    private let strings: InternTable

    init(_ strings: InternTable) { self.strings = strings }

    func text(_ instruction: Instruction) -> String {
        switch instruction {
        case .addTable(let addTable): return "AddTable \(name(addTable.table))\(text(addTable.kind))"
        case .eraseTable(let table): return "EraseTable \(name(table))"
        case .createObject(let table, let object): return "CreateObject \(name(table))[\(text(object))]"
        case .eraseObject(let table, let object): return "EraseObject \(name(table))[\(text(object))]"
        case .update(let update):
            let qualifier =
                switch update.qualifier {
                case .isDefault(let isDefault): isDefault ? " default" : ""
                case .priorSize(let size): " (of \(size))"
                }
            return "Update \(text(update.target)) = \(text(update.value))\(qualifier)"
        case .addInteger(let path, let delta): return "AddInteger \(text(path)) += \(delta)"
        case .addColumn(let addColumn): return text(addColumn)
        case .eraseColumn(let table, let field): return "EraseColumn \(name(table)).\(name(field))"
        case .arrayInsert(let path, let value, let size):
            return "ArrayInsert \(text(path)) = \(text(value)) (of \(size))"
        case .arrayMove(let path, let to, let size): return "ArrayMove \(text(path)) to [\(to)] (of \(size))"
        case .arrayErase(let path, let size): return "ArrayErase \(text(path)) (of \(size))"
        case .clear(let path, let collection): return "Clear \(text(path)) \(collection)"
        case .setInsert(let path, let value): return "SetInsert \(text(path)) \(text(value))"
        case .setErase(let path, let value): return "SetErase \(text(path)) \(text(value))"
        }
    }

    private func text(_ kind: Instruction.AddTable.Kind) -> String {
        switch kind {
        case .embedded: return " embedded"
        case .topLevel(let keyField, let keyType, let nullable, let asymmetric):
            return "(\(name(keyField)): \(keyType)\(nullable ? "?" : ""))\(asymmetric ? " asymmetric" : "")"
        }
    }

    private func text(_ addColumn: Instruction.AddColumn) -> String {
        let type = addColumn.type == .null ? "mixed" : "\(addColumn.type)"
        var text = "AddColumn \(name(addColumn.table)).\(name(addColumn.field)): \(type)"
        if addColumn.nullable { text += "?" }
        if addColumn.collection != .single { text += " \(addColumn.collection)" }
        if let keyType = addColumn.keyType { text += " by \(keyType)" }
        if let target = addColumn.linkTarget { text += " to \(name(target))" }
        return text
    }

    private func text(_ path: FieldPath) -> String {
        var text = "\(name(path.table))[\(self.text(path.object))].\(name(path.field))"
        for element in path.path {
            switch element {
            case .index(let index): text += "[\(index)]"
            case .key(let key): text += "[\(quoted(key))]"
            }
        }
        return text
    }

    private func text(_ key: PrimaryKey) -> String {
        switch key {
        case .null: "null"
        case .int(let value): "\(value)"
        case .string(let string): quoted(string)
        case .globalKey(let high, let low): "{\(hex(high, 0))-\(hex(low, 0))}"
        case .objectID(let value): "oid \(hex(value.high, 16))\(hex(UInt64(value.low), 8))"
        case .uuid(let value): "uuid \(hex(value.high, 16))\(hex(value.low, 16))"
        }
    }

    private func text(_ payload: Payload) -> String {
        switch payload {
        case .set: "Set"
        case .list: "List"
        case .dictionary: "Dictionary"
        case .erased: "Erased"
        case .objectValue: "ObjectValue"
        case .null: "null"
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let string): Self.quoted(string)
        case .binary(let bytes): "binary \(bytes.map { hex(UInt64($0), 2) }.joined())"
        case .timestamp(let value): "timestamp \(value.seconds)s \(value.nanoseconds)ns"
        case .float(let bits): "float \(Float(bitPattern: bits)) (\(hex(UInt64(bits), 8)))"
        case .double(let bits): "double \(Double(bitPattern: bits)) (\(hex(bits, 16)))"
        case .decimal(let value): "decimal \(hex(value.high, 16))\(hex(value.low, 16))"
        case .link(let table, let key): "link \(name(table))[\(text(key))]"
        case .objectID(let value): "oid \(hex(value.high, 16))\(hex(UInt64(value.low), 8))"
        case .uuid(let value): "uuid \(hex(value.high, 16))\(hex(value.low, 16))"
        }
    }

    private func hex(_ value: UInt64, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    // MARK: Strings

    private func name(_ interned: InternedString) -> String {
        guard let string = strings[interned] else { return "<string \(interned.index)>" }
        let isPlain =
            !string.isEmpty
            && string.bytes.allSatisfy { byte in
                byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF) && byte < 0x80
            }
        return isPlain ? string.string : Self.quoted(string)
    }

    private func quoted(_ interned: InternedString) -> String {
        strings[interned].map(Self.quoted) ?? "<string \(interned.index)>"
    }

    /// Everything that is not printable ASCII is escaped byte by byte, so that different strings look different.
    private static func quoted(_ string: ByteString) -> String {
        var text = "\""
        for byte in string.bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += "\\" + String(UnicodeScalar(byte))
            case 0x20...0x7E: text += String(UnicodeScalar(byte))
            default: text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return text + "\""
    }
}
