package import SyncModel

/// The properties of objects that subscriptions and filters may look at.
package struct Queryable: Sendable, Equatable {
    /// The properties that are queryable in every class.
    package var global: Set<String> = []
    package var classes: [String: Set<String>] = [:]
    /// The one that subscriptions must name, of every class that has it.
    package var indexed: String?
    /// The document names them without a word of single classes: it names all that there are, and development mode adds none.
    package var isComplete = false

    package init() {}

    /// Whether a class's objects can be found by the property.
    package func includes(_ property: String, of className: String) -> Bool {
        property == "_id" || property == indexed || global.contains(property)
            || classes[className]?.contains(property) == true
    }

    /// Returns those of some properties, by class, that are not queryable and could be.
    package func missing(of fields: [String: [String]]) -> [String: Set<String>] {
        fields.reduce(into: [:]) { missing, entry in
            let names = entry.value.filter { !includes($0, of: entry.key) && Self.isPossible($0) }
            if !names.isEmpty { missing[entry.key] = Set(names) }
        }
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

    static func isPossible(_ name: String) -> Bool { !name.isEmpty && !name.contains(".") && !isReserved(name) }

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

extension Queryable {
    /// The properties as documents have them. A document says that there may be more by naming classes, if only none.
    var json: JSONValue {
        func list(_ names: Set<String>) -> JSONValue { .array(names.sorted().map { .string($0) }) }
        var members: [String: JSONValue] = [:]
        if !global.isEmpty || isComplete { members["global"] = list(global) }
        if !classes.isEmpty || !isComplete { members["classes"] = .object(classes.mapValues(list)) }
        if let indexed { members["indexed"] = .string(indexed) }
        return .object(members)
    }
}

extension RulesDocument {
    /// The document with more queryable properties, by class; nil if it names all that there are.
    package func adding(queryable fields: [String: Set<String>]) -> JSONValue? {
        guard !queryable.isComplete, case .object(var members) = source else { return nil }
        var queryable = queryable
        for (name, fields) in fields { queryable.classes[name, default: []].formUnion(fields) }
        members["queryable"] = queryable.json
        return .object(members)
    }
}
