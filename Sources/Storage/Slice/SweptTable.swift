/// A table of slices with rows of realms, which go in steps when their realm is erased.
package struct SweptTable: Sendable {
    package let name: String
    /// The columns of its key after the realm.
    package let key: [String]
    /// The column whose bytes count; nil: none.
    package let content: String?

    private init(_ name: String, key: [String], content: String? = nil) {
        self.name = name
        self.key = key
        self.content = content
    }

    /// All tables that are swept, in the order in which that is done.
    package static let all = [
        SweptTable("objects", key: ["table_id", "key"], content: "body"),
        SweptTable("object_index", key: ["table_id", "column_id", "value", "key"]),
        SweptTable("history", key: ["generation", "version"], content: "changeset"),
        SweptTable("history_digests", key: ["generation", "through"], content: "body"),
        SweptTable("bases", key: ["version"]),
        SweptTable("reciprocals", key: ["ident", "version"], content: "changeset"),
        SweptTable("reset_cases", key: ["ident_old"], content: "body"),
        SweptTable("client_files", key: ["ident"]),
    ]
}
