/// JSON's string literals.
package enum JSONText {
    /// - Parameter asciiOnly: writes every other character as `\uXXXX`, so that equal bytes are equal strings whatever
    ///   Unicode normalisation a comparison uses.
    package static func quoted(_ text: String, asciiOnly: Bool) -> String {
        var bytes: [UInt8] = []
        append(quoted: text, asciiOnly: asciiOnly, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the literal as `quoted` makes it.
    package static func append(quoted text: String, asciiOnly: Bool, to bytes: inout [UInt8]) {
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
            case _ where scalar.value < 0x20 || (asciiOnly && scalar.value > 0x7E): appendEscape(of: scalar, to: &bytes)
            default: bytes.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends the literal of a text's bytes, non-ASCII characters as they are; what is not UTF-8 is repaired.
    package static func append(quoted text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var isASCII = true
        for byte in text where byte >= 0x80 {
            isASCII = false
            break
        }
        if isASCII {
            append(escaped: text, to: &bytes)
        } else {
            var repaired = String(decoding: text, as: UTF8.self)
            repaired.withUTF8 { append(escaped: UnsafeRawBufferPointer($0), to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends UTF-8 with what JSON wants escaped, in stretches of what needs no escape.
    private static func append(escaped text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        var start = 0
        for (position, byte) in text.enumerated()
        where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start..<position]))
            start = position + 1
            let short: StaticString? =
                switch byte {
                case UInt8(ascii: "\""): "\\\""
                case UInt8(ascii: "\\"): "\\\\"
                case 0x08: "\\b"
                case 0x0C: "\\f"
                case 0x0A: "\\n"
                case 0x0D: "\\r"
                case 0x09: "\\t"
                default: nil
                }
            if let short {
                short.withUTF8Buffer { bytes.append(contentsOf: $0) }
            } else {
                appendEscape(of: Unicode.Scalar(byte), to: &bytes)
            }
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start...]))
    }

    /// Appends a number's digits.
    package static func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        var rest = number.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    /// Appends `\uXXXX`, twice for a character that takes two UTF-16 units.
    static func appendEscape(of scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        for unit in String(scalar).utf16 {
            bytes.append(contentsOf: "\\u".utf8)
            for shift in stride(from: 12, through: 0, by: -4) {
                bytes.append(contentsOf: String((unit >> UInt16(shift)) & 0xF, radix: 16).utf8)
            }
        }
    }
}
