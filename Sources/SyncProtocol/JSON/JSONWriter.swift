/// Writes JSON as the reference peers do: no spaces, keys sorted by their UTF-8 bytes, `/` and non-ASCII left as they are.
package struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let asciiOnly: Bool

    private init(asciiOnly: Bool) { self.asciiOnly = asciiOnly }

    /// - Parameter asciiOnly: writes every other character as `\uXXXX`, so that equal bytes are equal strings whatever
    ///   Unicode normalisation a comparison uses.
    package static func bytes(of value: JSONValue, asciiOnly: Bool = false) -> [UInt8] {
        var writer = JSONWriter(asciiOnly: asciiOnly)
        writer.write(value)
        return writer.bytes
    }

    package static func text(of value: JSONValue, asciiOnly: Bool = false) -> String {
        String(decoding: bytes(of: value, asciiOnly: asciiOnly), as: UTF8.self)
    }

    private mutating func write(_ value: JSONValue) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .number(let value): bytes.append(contentsOf: (value.isFinite ? String(value) : "null").utf8)
        case .string(let value): write(value)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (position, element) in elements.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                write(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (position, member) in sorted.enumerated() {
                if position > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.key)
                bytes.append(UInt8(ascii: ":"))
                write(member.value)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes.append(contentsOf: "\\\"".utf8)
            case "\\": bytes.append(contentsOf: "\\\\".utf8)
            case "\u{08}": bytes.append(contentsOf: "\\b".utf8)
            case "\u{0C}": bytes.append(contentsOf: "\\f".utf8)
            case "\n": bytes.append(contentsOf: "\\n".utf8)
            case "\r": bytes.append(contentsOf: "\\r".utf8)
            case "\t": bytes.append(contentsOf: "\\t".utf8)
            case _ where scalar.value < 0x20 || (asciiOnly && scalar.value > 0x7E):
                for unit in String(scalar).utf16 { writeEscape(unit) }
            default: bytes.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func writeEscape(_ unit: UInt16) {
        bytes.append(contentsOf: "\\u".utf8)
        for shift in stride(from: 12, through: 0, by: -4) {
            bytes.append(contentsOf: String((unit >> UInt16(shift)) & 0xF, radix: 16).utf8)
        }
    }
}
