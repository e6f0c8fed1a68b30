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
        case .string(let text): text.withUnsafeBytes { JSONText.append(quoted: $0, to: &bytes) }
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (position, element) in elements.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                write(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .document(let document): write(document)
        // Integers, the most frequent numbers, are written as `notation` has them.
        case .int32(let value) where form == .relaxed: write(digitsOf: Int64(value))
        case .int64(let value) where form == .relaxed: write(digitsOf: value)
        case .int32, .int64, .double, .decimal128, .binary, .uuid, .date, .objectID, .regularExpression, .timestamp,
            .minKey, .maxKey:
            write(value.notation(form))
        }
    }

    package mutating func write(_ document: BSONDocument) {
        bytes.append(UInt8(ascii: "{"))
        for (position, member) in document.members.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            member.key.withUnsafeBytes { JSONText.append(quoted: $0, to: &bytes) }
            bytes.append(UInt8(ascii: ":"))
            write(member.value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(digitsOf number: Int64) { JSONText.append(number, to: &bytes) }

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func write(_ notation: ExtendedJSONNotation) {
        switch notation {
        case .bare(let text): write(text)
        case .text(let text): JSONText.append(quoted: text, asciiOnly: false, to: &bytes)
        case .object(let members):
            write("{")
            for (position, member) in members.enumerated() {
                if position > 0 { write(",") }
                write("\"\(member.key)\":")
                write(member.content)
            }
            write("}")
        }
    }
}
