import Changesets
import SyncModel

/// Writes Extended JSON v2, without blanks and with members in their order.
package struct ExtendedJSONWriter {
    package enum Form: Hashable, Sendable {
        /// Numbers and times as JSON has them where that loses nothing but the width of integers.
        case relaxed
        /// Every value with its type.
        case canonical
    }

    package private(set) var bytes: [UInt8] = []
    private let form: Form

    package init(_ form: Form = .relaxed) { self.form = form }

    package static func bytes(of value: BSONValue, _ form: Form = .relaxed) -> [UInt8] {
        var writer = ExtendedJSONWriter(form)
        writer.write(value)
        return writer.bytes
    }

    package static func text(of value: BSONValue, _ form: Form = .relaxed) -> String {
        String(decoding: bytes(of: value, form), as: UTF8.self)
    }

    package mutating func write(_ value: BSONValue) {
        switch value {
        case .null: write("null")
        case .bool(let value): write(value ? "true" : "false")
        case .int32(let value): write(number: String(value), "$numberInt")
        case .int64(let value): write(number: String(value), "$numberLong")
        case .double(let value) where value.isFinite: write(number: value.description, "$numberDouble")
        case .double(let value):
            write(wrapper: "$numberDouble", text: value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
        case .decimal128(let value): write(wrapper: "$numberDecimal", text: value.text)
        case .string(let text): JSONText.append(quoted: text.bytes, to: &bytes)
        case .binary(let content, let subtype): write(binary: content, subtype)
        case .uuid(let value):
            if form == .relaxed {
                write(wrapper: "$uuid", text: value.text)
            } else {
                write(binary: value.bytes, 4)
            }
        case .date(let milliseconds):
            if form == .relaxed, let text = ISODate.text(milliseconds) {
                write(wrapper: "$date", text: text)
            } else {
                write(#"{"$date":{"$numberLong":""#)
                write(String(milliseconds))
                write(#""}}"#)
            }
        case .objectID(let value): write(wrapper: "$oid", text: value.text)
        case .regularExpression(let pattern, let options):
            write(#"{"$regularExpression":{"pattern":"#)
            JSONText.append(quoted: Array(pattern.utf8), to: &bytes)
            write(#","options":"#)
            JSONText.append(quoted: Array(options.utf8), to: &bytes)
            write("}}")
        case .timestamp(let seconds, let increment):
            write(#"{"$timestamp":{"t":\#(seconds),"i":\#(increment)}}"#)
        case .minKey: write(#"{"$minKey":1}"#)
        case .maxKey: write(#"{"$maxKey":1}"#)
        case .array(let elements):
            write("[")
            for (position, element) in elements.enumerated() {
                if position > 0 { write(",") }
                write(element)
            }
            write("]")
        case .document(let document): write(document)
        }
    }

    package mutating func write(_ document: BSONDocument) {
        write("{")
        for (position, member) in document.members.enumerated() {
            if position > 0 { write(",") }
            JSONText.append(quoted: member.key.bytes, to: &bytes)
            write(":")
            write(member.value)
        }
        write("}")
    }

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func write(number: String, _ wrapper: String) {
        if form == .relaxed { write(number) } else { write(wrapper: wrapper, text: number) }
    }

    /// - Parameter text: nothing that JSON escapes.
    private mutating func write(wrapper: String, text: String) {
        write(#"{"\#(wrapper)":"\#(text)"}"#)
    }

    private mutating func write(binary content: [UInt8], _ subtype: UInt8) {
        write(#"{"$binary":{"base64":""#)
        bytes.append(contentsOf: Base64.encode(content))
        write(#"","subType":"\#(hexText(UInt64(subtype), 2))"}}"#)
    }
}
