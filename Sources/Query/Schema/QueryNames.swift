package import Changesets

/// The names by which programs call the properties of classes, where realms have other names for them or none: mapped properties, and what links to
/// an object.
package struct QueryNames: Sendable, Hashable {
    package enum Meaning: Sendable, Hashable {
        /// The name of the property in realms.
        case property(ByteString)
        /// All objects of a class whose property, which is named as in realms, links to the object.
        case backlinks(className: ByteString, property: ByteString)
    }

    /// The meanings of names, by the class's name in realms.
    package var classes: [ByteString: [ByteString: Meaning]] = [:]

    package init() {}
}

extension QueryNames {
    /// How a property's name stands in a query's text: behind a `#` if it would otherwise be read as something else than a name. Nil for what no property can be
    /// called there.
    package static func text(_ name: ByteString) -> String? {
        let plain = CanonicalText.name(name)
        if isName(plain, name) { return plain }
        let marked = "#" + plain
        return isName(marked, name) ? marked : nil
    }

    /// A key of a dictionary, as an index behind a path.
    package static func index(_ key: ByteString) -> String { CanonicalText.index(.key(key)) }

    /// Whether a text is one token, which is read as the name.
    private static func isName(_ text: String, _ name: ByteString) -> Bool {
        let bytes = Array(text.utf8)
        var lexer = Lexer(bytes)
        guard let token = try? lexer.next(), token.range == bytes.indices else { return false }
        switch token.kind {
        case .identifier(let found): return found == name
        case .keyword(let keyword): return keyword.isName
        default: return false
        }
    }
}
