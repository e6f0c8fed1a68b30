package import SyncModel

/// The parts of an exported App Services app that are about its rules.
package struct ExportedRules: Sendable {
    /// The app's sync mode; nil if sync was never set up.
    package var mode: SyncMode?
    /// The members of `sync/config.json`; before 2021, those about sync of a service's `config.json`.
    package var sync: [String: JSONValue] = [:]
    /// `default_rule.json` of the data source that sync uses.
    package var defaultRule: JSONValue?
    /// The rules of the data source's collections, by class.
    package var classes: [String: JSONValue] = [:]
    /// The classes that have no schema, hence were never synced.
    package var classesWithoutSchema: Set<String> = []
    /// The class of each collection of another name.
    package var classNames: [String: String] = [:]
    /// `values/<name>.json` that are no secrets, by name: each file's `value`.
    package var values: [String: JSONValue] = [:]
    /// The environment that the app was in, and the `values` of its file.
    package var environment: (tag: String, values: [String: JSONValue])?
    /// Notes for an operator beside the rules, a sentence each.
    package var notes: [String] = []

    package init() {}

    /// The rules as a document of ours, unchecked.
    package var document: JSONValue {
        var document: [String: JSONValue] = [:]
        if mode == .partition {
            document["partition"] = partitionRules
        } else {
            document["defaultRoles"] = defaultRoles.map { .array($0) }
            let roles = classRoles
            if !roles.isEmpty { document["classes"] = .object(roles.mapValues { .array($0) }) }
            document["queryable"] = queryable
        }
        // The other values may be large, or texts of pages: what no rule looks at stays out.
        let words = JSONValue.object(document).words
        func used(_ known: [String: JSONValue], _ prefix: String) -> [String: JSONValue] {
            known.filter { name, _ in words.contains { $0 == prefix + name || $0.hasPrefix(prefix + name + ".") } }
        }
        let values = used(self.values, "%%values.")
        if !values.isEmpty { document["values"] = .object(values) }
        if let environment {
            let values = used(environment.values, "%%environment.values.")
            if !environment.tag.isEmpty || !values.isEmpty {
                document["environment"] = ["tag": .string(environment.tag), "values": .object(values)]
            }
        }
        return .object(document)
    }

    private var partitionRules: JSONValue? {
        guard let permissions = sync["partition"]?.objectValue?["permissions"]?.objectValue else { return nil }
        // What is left out allows nothing.
        return .object(["read": permissions["read"] ?? false, "write": permissions["write"] ?? false])
    }

    // MARK: Roles

    /// The roles of the form before 2023, which stood in the sync configuration; nil if the app has none there. Where it has, sync went
    /// by them alone, and the rules of data sources were for requests to MongoDB.
    var syncRoles: [String: JSONValue]? {
        guard let old = sync["permissions"]?.objectValue else { return nil }
        let isUsed = old["defaultRoles"]?.arrayValue?.isEmpty == false || old["rules"]?.objectValue?.isEmpty == false
        return isUsed ? old : nil
    }

    private var defaultRoles: [JSONValue]? {
        if let syncRoles { return syncRoles["defaultRoles"]?.arrayValue?.map(Self.converted) }
        return defaultRule?.objectValue?["roles"]?.arrayValue?.map(Self.withoutID)
    }

    private var classRoles: [String: [JSONValue]] {
        if let syncRoles {
            return (syncRoles["rules"]?.objectValue ?? [:]).compactMapValues { $0.arrayValue?.map(Self.converted) }
        }
        return classes.compactMapValues { $0.objectValue?["roles"]?.arrayValue?.map(Self.withoutID) }
    }

    private var queryable: JSONValue? {
        var queryable: [String: JSONValue] = [:]
        if case .array(let global)? = sync["queryable_fields_names"] {
            queryable["global"] = .array(global.filter { $0 != "_id" })
        }
        if case .object(let classes)? = sync["collection_queryable_fields_names"] {
            // The names are of classes; some were written for collections.
            queryable["classes"] = .object(
                Dictionary(classes.map { (classNames[$0.key] ?? $0.key, $0.value) }) { first, _ in first })
        }
        if let indexed = sync["indexed_queryable_fields_names"]?.arrayValue?.first { queryable["indexed"] = indexed }
        guard !queryable.isEmpty else { return nil }
        // The dead service added what clients queried in development mode, whether or not single classes had
        // properties of their own.
        if queryable["classes"] == nil { queryable["classes"] = .object([:]) }
        return .object(queryable)
    }

    /// Exports number roles; the number means nothing elsewhere.
    private static func withoutID(_ role: JSONValue) -> JSONValue {
        guard case .object(var members) = role else { return role }
        members["_id"] = nil
        members["id"] = nil
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

    // MARK: The tutorial's functions

    /// The lists in a user's document that the partition functions of the well-known tutorial look a partition up in, by the rule that
    /// calls the function.
    var tutorialLists: [String: String] {
        let names = ["read": "canReadPartition", "write": "canWritePartition"]
        return names.reduce(into: [:]) { lists, rule in
            guard let call = partitionRules?.objectValue?[rule.key]?.calledFunction else { return }
            // The list has the function's name, with an s at the end if the function has none.
            if call == rule.value || call == rule.value + "s" { lists[rule.key] = rule.value + "s" }
        }
    }
}

extension JSONValue {
    /// Every text that begins with `%%`, keys among them.
    fileprivate var words: Set<String> {
        switch self {
        case .string(let text): text.hasPrefix("%%") ? [text] : []
        case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.words) }
        case .object(let members):
            members.reduce(into: Set(members.keys.filter { $0.hasPrefix("%%") })) { $0.formUnion($1.value.words) }
        default: []
        }
    }

    /// The function that alone decides a rule, by its name.
    fileprivate var calledFunction: String? {
        guard let members = objectValue, members.count == 1 else { return nil }
        if let inner = members["%%true"] { return inner.calledFunction }
        return members["%function"]?.objectValue?["name"]?.stringValue
    }
}
