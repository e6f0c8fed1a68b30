import Changesets
import ExtendedJSON
import Foundation
import SyncModel

/// Writes a state's objects as MongoDB extended JSON (docs/changesets.md, "State as JSON").
struct StateWriter {
    let state: RealmState
    var text = ""

    init(state: RealmState) { self.state = state }

    mutating func writeState() {
        let tables = state.schema.tables.filter { $0.kind != .embedded }.sorted { $0.name < $1.name }
        writeMembers(tables, "{", "}") { writer, table in
            writer.write(string: table.name.string)
            writer.text += ":"
            let objects = writer.state.objects(of: table.name).sorted { $0.key < $1.key }
            writer.writeMembers(objects, "[", "]") { $0.write($1.object, key: $1.key, of: table) }
        }
    }

    mutating func write(_ object: StoredObject, key: ObjectKey?, of table: TableSchema) {
        text += "{"
        var isFirst = true
        if let key, let schema = table.key {
            write(string: schema.type == .globalKey ? "_key" : schema.name.string)
            text += ":"
            write(key)
            isFirst = false
        }
        for column in table.columns {
            if !isFirst { text += "," }
            isFirst = false
            write(string: column.name.string)
            text += ":"
            write(object[column], element: column.element, inList: false)
        }
        text += "}"
    }

    private mutating func write(_ value: Value, element: ElementType, inList: Bool) {
        switch value {
        case .null: write(BSONValue.null)
        case .int(let value): write(BSONValue.int64(value))
        case .bool(let value): write(BSONValue.bool(value))
        case .string(let value): write(BSONValue.string(value))
        case .binary(let bytes): write(BSONValue.binary(bytes, subtype: 0))
        case .timestamp(let time): write(BSONValue.date(time.milliseconds))
        case .float(let bits): write(number: Double(Float(bitPattern: bits)), format: "%.7e")
        case .double(let bits): write(number: Double(bitPattern: bits), format: "%.16e")
        case .decimal(let value): write(BSONValue.decimal128(value))
        case .objectID(let value): write(BSONValue.objectID(value))
        case .uuid(let value): write(BSONValue.uuid(value))
        case .link(let address): write(address, element: element, inList: inList)
        case .list(let items), .set(let items):
            writeMembers(items, "[", "]") { $0.write($1, element: element, inList: true) }
        case .dictionary(let entries):
            writeMembers(entries.sorted { $0.key < $1.key }, "{", "}") {
                $0.write(string: $1.key.string)
                $0.text += ":"
                $0.write($1.value, element: element, inList: false)
            }
        case .embedded(let object):
            guard let table = state.schema.embeddedTarget(of: element) else {
                text += "null"
                return
            }
            write(object, key: nil, of: table)
        }
    }

    /// Unresolved links read as null, but a typed list shows its raw slots.
    private mutating func write(_ address: ObjectAddress, element: ElementType, inList: Bool) {
        let isTyped = element.type == .link && element.target?.isEmpty == false
        if isTyped, inList || state.contains(address) {
            write(address.key)
        } else if state.contains(address) {
            text += #"{"$link":{"table":"#
            write(string: address.className.string)
            text += #","key":"#
            write(address.key)
            text += "}}"
        } else {
            text += "null"
        }
    }

    private mutating func write(_ key: ObjectKey) {
        switch key {
        case .null: write(BSONValue.null)
        case .int(let value): write(BSONValue.int64(value))
        case .string(let value): write(BSONValue.string(value))
        case .globalKey: write(string: key.text)
        case .objectID(let value): write(BSONValue.objectID(value))
        case .uuid(let value): write(BSONValue.uuid(value))
        }
    }

    private mutating func write(_ value: BSONValue) { text += ExtendedJSONWriter.text(of: value, .canonical) }

    /// Writes a number with as many digits as the reference engine does, so that dumps can be compared.
    private mutating func write(number: Double, format: String) {
        guard number.isFinite else { return write(BSONValue.double(number)) }
        text += #"{"$numberDouble":"\#(String(format: format, number))"}"#
    }

    private mutating func write(string: String) { text += JSONText.quoted(string, asciiOnly: false) }

    private mutating func writeMembers<T>(
        _ members: [T], _ open: String, _ close: String, _ write: (inout StateWriter, T) -> Void
    ) {
        text += open
        for (position, member) in members.enumerated() {
            if position > 0 { text += "," }
            write(&self, member)
        }
        text += close
    }
}
