import Changesets

/// The words that TEXT looks for: words that must occur, words that must not, beginnings of words.
package struct FullTextPattern: Sendable, Hashable {
    private var required: Set<[UInt8]> = []
    private var excluded: Set<[UInt8]> = []
    private var prefixes: Set<[UInt8]> = []

    init(_ text: ByteString, at offset: Int) throws(QueryError) {
        for part in text.bytes.split(whereSeparator: { $0 == 0x20 || (0x09...0x0D).contains($0) }) {
            var word = part[...]
            let isExcluded = word.first == UInt8(ascii: "-")
            if isExcluded { word = word.dropFirst() }
            let isPrefix = word.last == UInt8(ascii: "*") && !isExcluded
            if isPrefix { word = word.dropLast() }
            let words = Self.words(Array(word))
            guard words.count == 1, let only = words.first else {
                throw .query(
                    "expected words of letters and digits after TEXT, found \"\(String(decoding: part, as: UTF8.self))\"",
                    at: offset)
            }
            if isExcluded {
                excluded.insert(only)
            } else if isPrefix {
                prefixes.insert(only)
            } else {
                required.insert(only)
            }
        }
        guard !required.isEmpty || !prefixes.isEmpty || !excluded.isEmpty else {
            throw .query("expected a word to look for after TEXT, found none", at: offset)
        }
    }

    func matches(_ text: [UInt8]) -> Bool {
        let words = Self.words(text)
        return required.isSubset(of: words) && excluded.isDisjoint(with: words)
            && prefixes.allSatisfy { prefix in words.contains { $0.starts(with: prefix) } }
    }

    /// Runs of letters and digits in lower case and without Latin diacritics; everything else separates.
    private static func words(_ text: [UInt8]) -> Set<[UInt8]> {
        var words: Set<[UInt8]> = []
        var word: [UInt8] = []
        var position = 0
        while position < text.count {
            var byte = text[position]
            position += 1
            if byte == 0xC3, position < text.count, (0x80...0xBE).contains(text[position]), text[position] != 0x97,
                text[position] != 0xB7
            {
                word += latin(text[position])
                position += 1
                continue
            }
            byte = byte.asciiLowercase
            if byte.decimalDigit != nil || (byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")) {
                word.append(byte)
            } else {
                if !word.isEmpty { words.insert(word) }
                word = []
            }
        }
        if !word.isEmpty { words.insert(word) }
        return words
    }

    /// The letter U+00C0 + (byte - 0x80) in lower case, without its diacritic.
    private static func latin(_ byte: UInt8) -> [UInt8] {
        let lower = byte < 0xA0 && byte != 0x9F ? byte + 0x20 : byte
        switch lower {
        case 0xA0...0xA4: return [UInt8(ascii: "a")]
        case 0xA7: return [UInt8(ascii: "c")]
        case 0xA8...0xAB: return [UInt8(ascii: "e")]
        case 0xAC...0xAF: return [UInt8(ascii: "i")]
        case 0xB1: return [UInt8(ascii: "n")]
        case 0xB2...0xB6: return [UInt8(ascii: "o")]
        case 0xB9...0xBC: return [UInt8(ascii: "u")]
        case 0xBD: return [UInt8(ascii: "y")]
        // å æ ð ø þ ß keep what they are.
        default: return [0xC3, lower]
        }
    }
}
