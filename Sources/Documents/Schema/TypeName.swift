package import Changesets

extension PayloadType {
    /// The names that apps' schemas, documents and instructions have for the types of properties; a property of type null is a mixed one.
    static let named: [String: PayloadType] = [
        "int": .int, "bool": .bool, "string": .string, "binData": .binary, "date": .timestamp, "float": .float,
        "double": .double, "decimal": .decimal, "link": .link, "objectId": .objectID, "uuid": .uuid, "mixed": .null,
    ]
    private static let names = Dictionary(uniqueKeysWithValues: named.map { ($1, $0) })

    /// The name of the type; of one that no property has, its own.
    package var documentName: String { Self.names[self] ?? "\(self)" }
}
