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

    private mutating func write(_ text: String) { JSONText.append(quoted: text, asciiOnly: asciiOnly, to: &bytes) }
}
