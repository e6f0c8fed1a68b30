/// The words of `NSPredicate` formats that the query language (docs/queries.md) spells otherwise.
enum PredicateWords {
    private static let replacements = ["YES": "true", "NO": "false", "@allKeys": "@keys", "@allValues": "@values"]
    /// Marks on letters count in the query language; what asks to ignore them is left out.
    private static let flags = ["[cd]": "[c]", "[dc]": "[c]", "[d]": ""]

    /// The text in the words of the query language; what stands in quotes stays as it is.
    static func translated(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        var quote: Character?
        while let character = rest.first {
            if let end = quote {
                // What follows a backslash ends no string.
                let length = character == "\\" ? 2 : 1
                result += rest.prefix(length)
                rest = rest.dropFirst(length)
                if character == end { quote = nil }
            } else if "\"'".contains(character) {
                quote = character
                result.append(rest.removeFirst())
            } else if let (flag, replacement) = flags.first(where: { rest.hasPrefix($0.key) }) {
                result += replacement
                rest = rest.dropFirst(flag.count)
            } else if isWord(character) {
                let word = rest.prefix(while: isWord)
                result += replacements[String(word)] ?? String(word)
                rest = rest.dropFirst(word.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "@" || character == "$"
    }
}
