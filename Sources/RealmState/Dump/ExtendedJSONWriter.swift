import Changesets
import Foundation

/// Writes values as MongoDB extended JSON (docs/changesets.md, "State as JSON").
struct ExtendedJSONWriter {
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
        case .null: text += "null"
        case .int(let int): text += #"{"$numberLong":"\#(int)"}"#
        case .bool(let bool): text += bool ? "true" : "false"
        case .string(let string): write(string: string.string)
        case .binary(let bytes): write(binary: bytes, subtype: "00")
        case .timestamp(let timestamp):
            let milliseconds = Int128(timestamp.seconds) * 1000 + Int128(timestamp.nanoseconds / 1_000_000)
            text += #"{"$date":{"$numberLong":"\#(milliseconds)"}}"#
        case .float(let bits): write(number: Double(Float(bitPattern: bits)), format: "%.7e")
        case .double(let bits): write(number: Double(bitPattern: bits), format: "%.16e")
        case .decimal(let decimal): text += #"{"$numberDecimal":"\#(DecimalNumber(decimal).plainText)"}"#
        case .objectID(let objectID): write(.objectID(objectID))
        case .uuid(let uuid): write(.uuid(uuid))
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
        case .null: text += "null"
        case .int(let value): text += #"{"$numberLong":"\#(value)"}"#
        case .string(let value): write(string: value.string)
        case .globalKey: write(string: key.text)
        case .objectID: text += #"{"$oid":"\#(key.text)"}"#
        case .uuid(let value):
            var writer = VarintWriter()
            writer.write(value)
            write(binary: writer.bytes, subtype: "04")
        }
    }

    private mutating func write(binary bytes: [UInt8], subtype: String) {
        text += #"{"$binary":{"base64":"\#(Data(bytes).base64EncodedString())","subType":"\#(subtype)"}}"#
    }

    private mutating func write(number: Double, format: String) {
        let digits: String
        if number.isNaN {
            digits = "NaN"
        } else if number.isInfinite {
            digits = number < 0 ? "-Infinity" : "Infinity"
        } else {
            digits = String(format: format, number)
        }
        text += #"{"$numberDouble":"\#(digits)"}"#
    }

    private mutating func write(string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20: text += "\\u" + hexText(UInt64(scalar.value), 4)
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    private mutating func writeMembers<T>(
        _ members: [T], _ open: String, _ close: String, _ write: (inout ExtendedJSONWriter, T) -> Void
    ) {
        text += open
        for (position, member) in members.enumerated() {
            if position > 0 { text += "," }
            write(&self, member)
        }
        text += close
    }
}

extension DecimalNumber {
    /// The number as IEEE 754 writes decimals: plainly, or with an exponent where that would need padding.
    var plainText: String {
        guard kind == .finite else { return kind == .nan ? "NaN" : isNegative ? "-Infinity" : "Infinity" }
        let digits = String(coefficient)
        let sign = isNegative ? "-" : ""
        let adjusted = exponent + digits.count - 1
        if exponent == 0 { return sign + digits }
        guard exponent < 0, adjusted >= -6 else {
            let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
            return "\(sign)\(digits.prefix(1))\(fraction)E\(adjusted < 0 ? "" : "+")\(adjusted)"
        }
        let places = -exponent
        let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
        return "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
    }
}
