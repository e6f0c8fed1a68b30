/// The string operators, on bytes.
enum TextMatch {
    /// Lower case as clients have it: ASCII letters and the Latin-1 capitals, nothing else. Lengths stay.
    static func folded(_ bytes: [UInt8]) -> [UInt8] {
        var result = bytes
        var isLatin = false
        for position in result.indices {
            let byte = result[position]
            if isLatin, (0x80...0x9E).contains(byte), byte != 0x97 {
                result[position] = byte + 0x20
            } else {
                result[position] = byte.asciiLowercase
            }
            isLatin = byte == 0xC3
        }
        return result
    }

    static func contains(_ text: [UInt8], _ needle: [UInt8]) -> Bool {
        guard let first = needle.first else { return true }
        guard text.count >= needle.count else { return false }
        return text.withUnsafeBufferPointer { text in
            needle.withUnsafeBufferPointer { needle in
                for start in 0...(text.count - needle.count) where text[start] == first {
                    var length = 1
                    while length < needle.count, text[start + length] == needle[length] { length += 1 }
                    if length == needle.count { return true }
                }
                return false
            }
        }
    }

    static func begins(_ text: [UInt8], with needle: [UInt8]) -> Bool { text.starts(with: needle) }

    static func ends(_ text: [UInt8], with needle: [UInt8]) -> Bool {
        text.count >= needle.count && text[(text.count - needle.count)...].elementsEqual(needle)
    }

    /// `*` is any run of bytes, `?` one character. At the end of the text exactly one `*` may be left of the pattern.
    static func like(_ text: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (position, at) = (0, 0)
        var retry: (position: Int, at: Int)?
        while true {
            if position == text.count {
                let rest = pattern.count - at
                return rest == 0 || (rest == 1 && pattern[at] == UInt8(ascii: "*"))
            }
            if at < pattern.count {
                let wanted = pattern[at]
                if wanted == UInt8(ascii: "*") {
                    at += 1
                    retry = (position, at)
                    continue
                }
                if wanted == UInt8(ascii: "?") {
                    let isWide = text[position] & 0x80 != 0
                    position += 1
                    while isWide, position < text.count, text[position] & 0xC0 == 0x80 { position += 1 }
                    at += 1
                    continue
                }
                if wanted == text[position] {
                    position += 1
                    at += 1
                    continue
                }
            }
            // The last star takes one byte more: no earlier one has to.
            guard let last = retry else { return false }
            retry = (last.position + 1, last.at)
            position = last.position + 1
            at = last.at
        }
    }
}
