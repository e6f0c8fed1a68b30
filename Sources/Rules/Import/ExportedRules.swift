package import SyncModel

/// What the folder of an exported App Services app says of its rules: its files, parsed.
package struct ExportedRules: Sendable {
    /// `sync/config.json`.
    package var sync: JSONValue?
    /// `data_sources/<name>/default_rule.json`.
    package var defaultRule: JSONValue?
    /// `data_sources/<name>/<database>/<collection>/rules.json`, by class.
    package var classes: [String: JSONValue] = [:]
    /// `values/<name>.json` that are no secrets, by name: each file's `value`.
    package var values: [String: JSONValue] = [:]
    /// The environment that the app was in, and the `values` of its file.
    package var environment: (tag: String, values: [String: JSONValue])?

    package init() {}

    /// The rules as a document of ours, unchecked.
    package var document: JSONValue {
        var document: [String: JSONValue] = [:]
        if let partition = partitionRules { document["partition"] = partition }
        let old = sync?.objectValue?["permissions"]?.objectValue
        if let roles = defaultRule?.objectValue?["roles"]?.arrayValue {
            document["defaultRoles"] = .array(roles.map(Self.withoutID))
        } else if let roles = old?["defaultRoles"]?.arrayValue {
            document["defaultRoles"] = .array(roles.map(Self.converted))
        }
        var classes = self.classes.compactMapValues { $0.objectValue?["roles"]?.arrayValue?.map(Self.withoutID) }
        for (name, roles) in old?["rules"]?.objectValue ?? [:] where classes[name] == nil {
            classes[name] = roles.arrayValue?.map(Self.converted)
        }
        if !classes.isEmpty { document["classes"] = .object(classes.mapValues { .array($0) }) }
        if !values.isEmpty { document["values"] = .object(values) }
        if let environment, !environment.tag.isEmpty || !environment.values.isEmpty {
            document["environment"] = ["tag": .string(environment.tag), "values": .object(environment.values)]
        }
        if let queryable { document["queryable"] = queryable }
        return .object(document)
    }

    private var partitionRules: JSONValue? {
        guard let permissions = sync?.objectValue?["partition"]?.objectValue?["permissions"]?.objectValue else {
            return nil
        }
        // What is left out allows nothing.
        return .object(["read": permissions["read"] ?? false, "write": permissions["write"] ?? false])
    }

    private var queryable: JSONValue? {
        let members = sync?.objectValue ?? [:]
        var queryable: [String: JSONValue] = [:]
        if case .array(let global)? = members["queryable_fields_names"] {
            queryable["global"] = .array(global.filter { $0 != "_id" })
        }
        if case .object(let classes)? = members["collection_queryable_fields_names"] {
            queryable["classes"] = .object(classes)
        }
        if let indexed = members["indexed_queryable_fields_names"]?.arrayValue?.first { queryable["indexed"] = indexed }
        return queryable.isEmpty ? nil : .object(queryable)
    }

    /// Exports number roles; the number means nothing elsewhere.
    private static func withoutID(_ role: JSONValue) -> JSONValue {
        guard case .object(var members) = role else { return role }
        members["_id"] = nil
        return .object(members)
    }

    /// A role of the form before 2023: its `read` and `write` were the filters, and its fields decided alone where it had any.
    private static func converted(_ role: JSONValue) -> JSONValue {
        guard let members = role.objectValue else { return role }
        var converted: [String: JSONValue] = [
            "name": members["name"] ?? .null, "apply_when": members["applyWhen"] ?? .object([:]),
            "document_filters": ["read": members["read"] ?? false, "write": members["write"] ?? false],
            "insert": true, "delete": true, "search": true,
        ]
        for key in ["fields", "additional_fields"] { converted[key] = members[key] }
        if members["fields"] == nil {
            converted["read"] = true
            converted["write"] = true
        }
        return .object(converted)
    }
}
