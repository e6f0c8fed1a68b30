@testable import Query

/// What the operators on texts mean, told in the plainest way.
enum NaiveText {
    /// Tries every run for every star.
    static func like(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        guard let byte = text.first else { return pattern.isEmpty || pattern == [UInt8(ascii: "*")] }
        guard let wanted = pattern.first else { return false }
        let (others, rest) = (text.dropFirst(), pattern.dropFirst())
        switch wanted {
        case UInt8(ascii: "*"): return like(text, rest) || like(others, pattern)
        case UInt8(ascii: "?"): return like(byte < 0x80 ? others : others.drop { $0 >> 6 == 0b10 }, rest)
        default: return byte == wanted && like(others, rest)
        }
    }

    static func contains(_ text: [UInt8], _ needle: [UInt8]) -> Bool {
        (0...text.count).contains { text[$0...].starts(with: needle) }
    }

    /// A text with the letters in lower case that clients know: A to Z, and À to Þ without ×.
    static func folded(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isLetter =
                ("A"..."Z").contains(scalar) || ("\u{C0}"..."\u{DE}").contains(scalar) && scalar != "\u{D7}"
            result.append(isLetter ? Unicode.Scalar(scalar.value + 32) ?? scalar : scalar)
        }
        return String(result)
    }

    /// The letters whose diacritics do not count, and what they count as.
    private static let plain: [Unicode.Scalar: Unicode.Scalar] = Dictionary(
        uniqueKeysWithValues: zip(
            "àáâãäçèéêëìíîïñòóôõöùúûüý".unicodeScalars, "aaaaaceeeeiiiinooooouuuuy".unicodeScalars))

    /// The words of a text, for TEXT.
    static func words(_ text: String) -> [String] {
        folded(text).unicodeScalars.split { scalar in
            let isASCII = ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar)
            return !isASCII && (!("\u{DF}"..."\u{FE}").contains(scalar) || scalar == "\u{F7}")
        }.map { word in
            var result = String.UnicodeScalarView()
            for scalar in word { result.append(plain[scalar] ?? scalar) }
            return String(result)
        }
    }
}
