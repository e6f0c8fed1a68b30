/// The properties of objects that subscriptions and filters may look at.
package struct Queryable: Sendable, Equatable {
    /// Of every class.
    package var global: Set<String> = []
    package var classes: [String: Set<String>] = [:]
    /// The one that subscriptions must name, of every class that has it.
    package var indexed: String?

    package init() {}

    /// Whether a class's objects can be found by the property.
    package func includes(_ property: String, of className: String) -> Bool {
        property == "_id" || property == indexed || global.contains(property)
            || classes[className]?.contains(property) == true
    }

    /// The properties that a role's filters may name.
    struct Scope: Sendable {
        var queryable: Queryable
        /// Nil for default roles, which are of all classes that have none of their own.
        var className: String?

        /// Why no filter may look at the property; nil if one may.
        func problem(with property: String) -> (message: String, hint: String)? {
            guard !property.contains(".") else {
                return (
                    "\(property.shown) is inside another property: filters look at whole properties of an object only",
                    "keep a copy of it in a property of the object itself"
                )
            }
            if let className {
                guard !queryable.includes(property, of: className) else { return nil }
                return (
                    "\(property.shown) is not queryable in class \(className.shown)",
                    "add it to /queryable/classes/\(className) or /queryable/global"
                )
            }
            let isKnown =
                queryable.includes(property, of: "") || queryable.classes.values.contains { $0.contains(property) }
            guard !isKnown else { return nil }
            return ("\(property.shown) is not queryable", "add it to /queryable/global")
        }
    }

    /// Words of the query language, which cannot name a queryable property.
    static func isReserved(_ name: String) -> Bool {
        let anyCase: Set<String> = [
            "and", "or", "not", "true", "false", "null", "nil", "nan", "infinity", "beginswith", "endswith", "contains",
            "like", "between", "text", "limit", "sort", "distinct", "truepredicate", "falsepredicate", "subquery",
        ]
        let exactly: Set<String> = [
            "ALL", "all", "ANY", "any", "SOME", "some", "NONE", "none", "IN", "in", "oid", "uuid",
        ]
        return anyCase.contains(name.lowercased()) || exactly.contains(name)
    }
}
