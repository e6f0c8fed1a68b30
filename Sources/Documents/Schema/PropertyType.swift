package import Changesets
package import RealmState

/// A property's type as apps' schemas have it (`string?`, `list<link Dog>`), read. Pure.
package struct PropertyType: Hashable, Sendable {
    package private(set) var element: ElementType
    package private(set) var collection: CollectionType

    /// Nil for what is no type.
    package init?(_ text: String) {
        collection = .single
        var rest = text[...]
        for (name, kind) in [("list", CollectionType.list), ("set", .set), ("dictionary", .dictionary)]
        where rest.hasPrefix(name + "<") && rest.hasSuffix(">") {
            collection = kind
            rest = rest.dropFirst(name.count + 1).dropLast()
        }
        if rest.hasPrefix("link "), rest.count > 5 {
            element = ElementType(
                type: .link, nullable: collection == .single || collection == .dictionary,
                target: ByteString(String(rest.dropFirst(5))))
            return
        }
        let nullable = rest.hasSuffix("?")
        guard let type = PayloadType.named[String(nullable ? rest.dropLast() : rest)], type != .link,
            !(nullable && type == .null)
        else { return nil }
        element = ElementType(type: type, nullable: nullable || type == .null)
    }

    /// The class that it links to; nil if it links to none.
    package var target: String? { element.target?.string }

    /// Whether it differs from another only in whether it may be null, so that both can be one property of a realm.
    package func isOptionality(of other: PropertyType) -> Bool {
        collection == .single && other.collection == .single && element.type == other.element.type
            && element.type != .link && element.type != .null && element.nullable != other.element.nullable
    }
}
