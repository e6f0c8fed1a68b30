package import SyncModel

extension RulesDocument {
    /// The document of an app that moves from partition to flexible sync: its default role lets users read and write the objects of the
    /// partitions that they may read and write, by a property that says which partition an object is of.
    ///
    /// - Parameters:
    ///   - field: the property.
    ///   - makesRoles: whether the role is made; else the document's own roles stay, and only the property becomes queryable.
    /// - Returns: nil if the partition rules cannot be said of a property.
    package func movedToFlexible(field: String, makesRoles: Bool) -> JSONValue? {
        guard case .object(var members) = source else { return nil }
        if makesRoles {
            guard let partition, let read = Self.filter(partition.read.source, field),
                let write = Self.filter(partition.write.source, field)
            else { return nil }
            members["defaultRoles"] = [
                [
                    "name": "partition", "apply_when": [:],
                    // A user who may write may read.
                    "document_filters": ["read": ["$or": [read, write]], "write": write],
                    "read": true, "write": true, "insert": true, "delete": true,
                ]
            ]
            members["classes"] = nil
        }
        members["queryable"] = Self.adding(field, to: members["queryable"])
        members["generated"] = nil
        return .object(members)
    }

    private static func adding(_ field: String, to queryable: JSONValue?) -> JSONValue {
        guard case .object(var members)? = queryable else {
            return .object(["global": .array([.string(field)]), "classes": [:]])
        }
        var global: [JSONValue] = []
        if case .array(let known)? = members["global"] { global = known }
        if !global.contains(.string(field)) { global.append(.string(field)) }
        members["global"] = .array(global)
        return .object(members)
    }

    /// A partition rule as a filter of objects; nil if there is none that says the same.
    private static func filter(_ rule: JSONValue, _ field: String) -> JSONValue? {
        switch rule {
        case .bool: return rule
        case .object(let members):
            var parts: [JSONValue] = []
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                guard let part = condition(key, value, field) else { return nil }
                parts.append(part)
            }
            return parts.count == 1 ? parts[0] : parts.isEmpty ? .object([:]) : .object(["$and": .array(parts)])
        default: return nil
        }
    }

    private static func condition(_ key: String, _ value: JSONValue, _ field: String) -> JSONValue? {
        switch key {
        case "$and", "%and", "$or", "%or", "$nor", "%nor":
            guard case .array(let parts) = value else { return nil }
            let filters = parts.compactMap { filter($0, field) }
            return filters.count == parts.count ? .object([key: .array(filters)]) : nil
        case "$not", "%not": return filter(value, field).map { .object([key: $0]) }
        case "%%partition": return value.names("%%partition") ? nil : .object([field: value])
        default:
            guard key.hasPrefix("%%") else { return nil }
            let isEqual = value == .object(["$eq": partition]) || value == .object(["%eq": partition])
            if value == partition || isEqual {
                // Equality with a list asks for one of its elements.
                return ["$or": [[field: .string(key)], [field: ["$in": .string(key)]]]]
            }
            return value.names("%%partition") ? nil : .object([key: value])
        }
    }

    private static let partition = JSONValue.string("%%partition")
}

extension JSONValue {
    /// Whether an expansion stands anywhere in the value.
    fileprivate func names(_ expansion: String) -> Bool {
        switch self {
        case .string(let text): text == expansion
        case .array(let elements): elements.contains { $0.names(expansion) }
        case .object(let members): members.contains { $0.key == expansion || $0.value.names(expansion) }
        default: false
        }
    }
}
