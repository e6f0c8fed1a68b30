/// The part that clients of one schema version of an app see of the realm's schema, which has the classes and properties of all versions: what is the
/// same in both is not named.
///
/// A version stays what it is for ever; a breaking change makes another one beside it.
package struct SchemaVersion: Codable, Hashable, Sendable {
    /// A property that the version has otherwise than the realm.
    package struct Property: Codable, Hashable, Sendable {
        package var className: String
        /// The name by which the version's clients call the property.
        package var name: String
        /// The property of the realm's schema that it is; nil: the version has none of this name.
        package var column: String?
        /// Whether it may be null, where that is otherwise than in the realm's schema.
        package var nullable: Bool?

        package init(className: String, name: String, column: String?, nullable: Bool? = nil) {
            self.className = className
            self.name = name
            self.column = column
            self.nullable = nullable
        }
    }

    package var number: UInt64
    /// Classes of the realm that the version does not have, in ascending order.
    package var hiddenClasses: [String]
    /// The properties that differ from the realm's, in ascending order of their classes and names.
    package var properties: [Property]

    package init(number: UInt64, hiddenClasses: [String] = [], properties: [Property] = []) {
        self.number = number
        self.hiddenClasses = hiddenClasses
        self.properties = properties
    }
}

extension SchemaVersion {
    private static let mark = "@v"

    /// The name in the realm's schema of a property that has a type of its own from a version on. Only versions that name it have it.
    package static func column(_ name: String, since number: UInt64) -> String { "\(name)\(mark)\(number)" }

    /// The property's name, and the version since which it is so, of a name that `column` gave; nil for any other name.
    package static func parts(ofColumn column: String) -> (name: String, number: UInt64)? {
        // Nearly all names have none, and there may be very many of them.
        guard column.utf8.contains(UInt8(ascii: "@")), let at = column.lastIndex(of: "@") else { return nil }
        let rest = column[at...]
        guard at > column.startIndex, rest.hasPrefix(mark), let number = UInt64(rest.dropFirst(mark.count)) else {
            return nil
        }
        return (String(column[..<at]), number)
    }
}
