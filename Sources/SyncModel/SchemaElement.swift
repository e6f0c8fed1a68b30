/// A class that clients of an app declare, or a property of one, with its type.
package struct SchemaElement: Hashable, Sendable, Codable {
    /// The class as apps call it: without the prefix `class_` that realm files put before it.
    package var className: String
    /// Nil for the class itself.
    package var property: String?
    /// A class's kind and primary key (`object(_id: int)`), or a property's type (`string?`, `list<link Dog>`).
    package var type: String

    package init(className: String, property: String? = nil, type: String) {
        self.className = className
        self.property = property
        self.type = type
    }
}
