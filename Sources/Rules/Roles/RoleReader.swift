import SyncModel

/// Reads one role of a list.
struct RoleReader {
    let scope: Queryable.Scope
    let constants: RuleConstants
    let path: JSONPointer

    private static let keys = [
        "name", "apply_when", "document_filters", "read", "write", "insert", "delete", "search", "fields",
        "additional_fields",
    ]

    /// Nil if it is no role at all.
    func role(_ json: JSONValue, into findings: inout RulesFindings) -> RuleRole? {
        guard let members = findings.object(json, "a role", known: Self.keys, at: path) else { return nil }
        let filters = filters(members["document_filters"], into: &findings)
        if let search = members["search"], search.boolValue == nil {
            // Kept for those who go on with other software: it means nothing to sync.
            _ = expression(search, at: "search", into: &findings)
        }
        return RuleRole(
            name: name(members["name"], into: &findings),
            applyWhen: applyWhen(members["apply_when"], into: &findings),
            readFilter: filters.read, writeFilter: filters.write,
            insert: members["insert"].map { expression($0, at: "insert", into: &findings) } ?? .always,
            delete: members["delete"].map { expression($0, at: "delete", into: &findings) } ?? .always,
            read: literal(members["read"], at: path.key("read"), into: &findings),
            write: literal(members["write"], at: path.key("write"), into: &findings),
            fields: fields(members["fields"], at: path.key("fields"), into: &findings),
            additionalFields: members["additional_fields"].map {
                field(
                    $0, "additional_fields", known: ["read", "write"], at: path.key("additional_fields"),
                    into: &findings)
            } ?? RuleRole.FieldRule(),
            source: json, path: path)
    }

    private func name(_ json: JSONValue?, into findings: inout RulesFindings) -> String {
        guard let json else {
            findings.add(.missingKey, at: path, "\"name\" is missing")
            return ""
        }
        guard let name = json.stringValue, (1...RulesLimits.nameBytes).contains(name.utf8.count) else {
            findings.add(.badName, at: path.key("name"), "expected a name of 1 to \(RulesLimits.nameBytes) bytes")
            return ""
        }
        return name
    }

    private func applyWhen(_ json: JSONValue?, into findings: inout RulesFindings) -> RuleExpression {
        guard let json else {
            findings.add(
                .missingKey, at: path, "\"apply_when\" is missing", hint: "{} applies the role to everybody")
            return .never
        }
        return findings.expression(json, .applyWhen, constants, at: path.key("apply_when"))
    }

    private func filters(
        _ json: JSONValue?, into findings: inout RulesFindings
    ) -> (read: RuleExpression, write: RuleExpression) {
        let path = path.key("document_filters")
        let members = json.flatMap {
            findings.object($0, "document_filters", known: ["read", "write"], at: path)
        }
        func filter(_ key: String) -> RuleExpression {
            guard let filter = members?[key] else {
                if json == nil || members != nil {
                    findings.add(
                        .missingFilter, at: path.key(key), "the filter is missing: sync needs both",
                        hint: "true lets the role at every object, false at none")
                }
                return .never
            }
            return findings.expression(filter, .filter(scope), constants, at: path.key(key))
        }
        return (filter("read"), filter("write"))
    }

    private func expression(
        _ json: JSONValue, at key: String, into findings: inout RulesFindings
    ) -> RuleExpression {
        findings.expression(json, .filter(scope), constants, at: path.key(key))
    }

    private func literal(_ json: JSONValue?, at path: JSONPointer, into findings: inout RulesFindings) -> Bool? {
        guard let json else { return nil }
        guard let value = json.boolValue else {
            findings.add(
                .notLiteral, at: path, "expected true or false, found \(json.kind)",
                hint: "conditions on objects belong into document_filters")
            return nil
        }
        return value
    }

    // MARK: Fields

    private func fields(
        _ json: JSONValue?, at path: JSONPointer, into findings: inout RulesFindings
    ) -> [String: RuleRole.FieldRule] {
        guard let json, let members = findings.object(json, "fields", at: path) else { return [:] }
        if members["_id"] != nil, path == self.path.key("fields") {
            findings.add(
                .idInFields, at: path.key("_id"), "_id cannot have permissions of its own",
                hint: "it is readable whenever the object is, and nobody can change it")
        }
        return members.reduce(into: [:]) { fields, member in
            fields[member.key] = field(
                member.value, "a field", known: ["read", "write", "fields"], at: path.key(member.key), into: &findings)
        }
    }

    private func field(
        _ json: JSONValue, _ what: String, known: [String], at path: JSONPointer, into findings: inout RulesFindings
    ) -> RuleRole.FieldRule {
        var rule = RuleRole.FieldRule()
        guard let members = findings.object(json, what, known: known, at: path) else { return rule }
        rule.read = literal(members["read"], at: path.key("read"), into: &findings) ?? false
        rule.write = literal(members["write"], at: path.key("write"), into: &findings) ?? false
        if known.contains("fields") { rule.fields = fields(members["fields"], at: path.key("fields"), into: &findings) }
        return rule
    }
}
