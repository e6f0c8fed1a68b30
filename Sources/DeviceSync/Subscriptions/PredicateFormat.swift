internal import Changesets
internal import Foundation
internal import Query
internal import RealmState

/// Reads formats of `NSPredicate`: what makes of them, and of the values that go with them, a text of the query language with its arguments.
///
/// Placeholders are `%@`, `%d`, `%f` and the like for values, `%K` for a key path, `%%` for a percent sign. Words that the language spells otherwise are replaced, escapes
/// in quotes are decoded. A value, and a key path, never becomes anything but itself.
struct PredicateFormat {
    private let format: String
    private var rest: Substring
    private var unused: ArraySlice<Any>
    private var text = ""
    private var arguments: [QueryArgument] = []

    /// - Throws: `ValueMismatch` for placeholders and values that do not fit each other.
    static func query(_ format: String, _ values: [Any]) throws -> QueryText {
        var reader = PredicateFormat(format, values)
        try reader.read()
        // Without placeholders, what is passed stands for $0, $1 ...
        if reader.unused.count == values.count {
            reader.arguments = try values.map(argument)
        } else if !reader.unused.isEmpty {
            throw ValueMismatch(
                description: "the query \"\(format)\" has fewer placeholders than the \(values.count) arguments passed")
        }
        return QueryText(text: reader.text, arguments: reader.arguments)
    }

    private init(_ format: String, _ values: [Any]) {
        self.format = format
        rest = format[...]
        unused = values[...]
    }

    private mutating func read() throws {
        while let character = rest.first {
            switch character {
            case "\"", "'": quoted(character)
            case "%": try placeholder()
            case "[": bracket()
            default:
                if Self.isWord(character) { word() } else { text.append(rest.removeFirst()) }
            }
        }
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "_@$#".contains(character)
    }

    // MARK: Words

    private static let replacements = ["YES": "true", "NO": "false", "@allKeys": "@keys", "@allValues": "@values"]

    private mutating func word() {
        let word = String(rest.prefix(while: Self.isWord))
        rest = rest.dropFirst(word.count)
        if word.lowercased() == "self", rest.first == ".", text.last != "." {
            // The object itself, where a key path begins anyway.
            rest = rest.dropFirst()
        } else {
            text += Self.replacements[word] ?? word
        }
    }

    /// `[cd]` and the like; `[#any]`, any element of a collection in a value; or the beginning of another index.
    private mutating func bracket() {
        let inner = rest.dropFirst().prefix { $0 != "]" }
        let flags = Set(inner.lowercased())
        if inner.endIndex < rest.endIndex, !flags.isEmpty, flags.isSubset(of: "cdnl") {
            rest = rest[inner.endIndex...].dropFirst()
            // What else there is, normalized texts and a locale, changes nothing here.
            let kept = (flags.contains("c") ? "c" : "") + (flags.contains("d") ? "d" : "")
            if !kept.isEmpty { text += "[\(kept)]" }
        } else if inner == "#any" {
            rest = rest[inner.endIndex...]
            text += "[*"
        } else {
            text.append(rest.removeFirst())
        }
    }

    // MARK: Quotes

    /// A string, with its escapes decoded.
    private mutating func quoted(_ quote: Character) {
        var raw = String(rest.removeFirst())
        var decoded: String? = ""
        while let character = rest.popFirst() {
            raw.append(character)
            if character == quote {
                // What is in base64 has no escapes.
                let isPlain = !raw.contains("\\") || text.hasSuffix("B64")
                if isPlain || decoded == nil {
                    text += raw
                } else if let decoded {
                    text += "B64\"\(Data(decoded.utf8).base64EncodedString())\""
                }
                return
            }
            guard character == "\\" else {
                decoded?.append(character)
                continue
            }
            let (escape, length) = Self.escape(rest)
            raw += rest.prefix(length)
            rest = rest.dropFirst(length)
            // What is no escape is for the query language to refuse.
            if let escape { decoded?.append(escape) } else { decoded = nil }
        }
        text += raw
    }

    private static let escapes: [Character: Character] = [
        "\"": "\"", "'": "'", "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t", "b": "\u{8}", "f": "\u{C}",
        "0": "\0",
    ]

    /// What stands behind a backslash, and the number of characters by which it is written.
    private static func escape(_ rest: Substring) -> (Character?, Int) {
        guard let first = rest.first else { return (nil, 0) }
        guard first == "u" else { return (escapes[first], 1) }
        let digits = rest.dropFirst().prefix(4)
        guard digits.count == 4, let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
            return (nil, 1)
        }
        return (Character(scalar), 5)
    }

    // MARK: Placeholders

    /// The longest first.
    private static let placeholders = [
        "hhd", "hhu", "lld", "lli", "llu", "hd", "hu", "ld", "lf", "li", "lu", "qd", "qu", "zd", "zu", "@", "d", "e",
        "f", "g",
        "i", "s", "u",
    ]

    private mutating func placeholder() throws {
        rest.removeFirst()
        if rest.first == "%" {
            text.append(rest.removeFirst())
        } else if rest.first == "K" {
            rest.removeFirst()
            try keyPath(try next())
        } else if let placeholder = Self.placeholders.first(where: { rest.hasPrefix($0) }) {
            rest = rest.dropFirst(placeholder.count)
            let value = try next()
            if let area = value as? any RLMGeospatial { return try region(area) }
            text += "$\(arguments.count)"
            arguments.append(try Self.argument(value))
        } else {
            throw ValueMismatch(
                description:
                    "the query \"\(format)\" has a % before \"\(rest.prefix(3))\"; placeholders are %@, %K, %d, %f and the like"
            )
        }
    }

    /// Writes an area, for which predicates say `IN` and the language `GEOWITHIN`.
    private mutating func region(_ area: any RLMGeospatial) throws {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let last = words.last, ["in", "geowithin"].contains(last.lowercased()) else {
            throw ValueMismatch(
                description: "the query \"\(format)\" has an area where none can be; write \"location IN %@\"")
        }
        text = "\(text[..<last.startIndex])GEOWITHIN \(area._region)"
    }

    private mutating func next() throws -> Any {
        guard let value = unused.popFirst() else {
            let count = unused.startIndex
            throw ValueMismatch(
                description: "the query \"\(format)\" has more placeholders than the \(count) arguments passed")
        }
        return value
    }

    /// Writes a key path so that its names are names, whatever the words mean otherwise.
    private mutating func keyPath(_ any: Any) throws {
        guard let path = ValueConversion.unwrapped(any) as? String else {
            throw ValueMismatch(description: "the query \"\(format)\" wants a key path for %K, came \(type(of: any))")
        }
        if path == "#any", text.hasSuffix("[") { return text += "*" }
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if names.count > 1, names[0].lowercased() == "self" { names.removeFirst() }
        let texts = try names.map { name in
            let isFunction = name.first == "@" && name.dropFirst().allSatisfy(\.isLetter)
            guard let text = isFunction ? Self.replacements[name] ?? name : QueryNames.text(ByteString(name)) else {
                throw ValueMismatch(
                    description: "\"\(path)\", which the query \"\(format)\" is given for %K, is no key path")
            }
            return text
        }
        text += texts.joined(separator: ".")
    }

    // MARK: Values

    /// What a value is in a query.
    /// - Throws: `ValueMismatch` for what no query can compare with.
    static func argument(_ any: Any) throws -> QueryArgument {
        if let scalar = any as? any _Scalar, !(any is AnyRealmValue) { return .value(scalar._stored.value) }
        if let object = ValueConversion.unwrapped(any) as? ObjectBase, object.handle == nil || object is EmbeddedObject
        {
            // An object that no realm has is equal to none that a realm has; embedded ones are values, and no others' either.
            return .value(.link(ObjectAddress(ByteString(ModelName.of(type(of: object))), .unique())))
        }
        let conversion = ValueConversion(schema: StoredSchema())
        // A value of any type is one value, whatever it holds; other lists are several.
        if let mixed = any as? AnyRealmValue { return .value(try conversion.value(mixed, as: .mixed)) }
        // A collection of any kind as an array; what is no collection of values, as a string or bytes, as it is.
        let elements = any is any Collection ? try? ValueConversion.elements(any) : nil
        switch try conversion.value(elements ?? any, as: .mixed) {
        case .list(let values): return .list(values)
        case let value: return .value(value)
        }
    }
}
