/// Warns of what a sound document may not have meant.
struct RulesAdvice {
    let document: RulesDocument
    let schema: RulesSchema?

    func add(to findings: inout RulesFindings) {
        if document.partition == nil {
            findings.add(
                .noPartitionRules, at: .root, "there are no partition rules: nobody may read or write any partition",
                hint: "\"partition\": {\"read\": ..., \"write\": ...}, or a template's name")
        }
        if let roles = document.defaultRoles { advise(on: roles, ofClass: nil, &findings) }
        for (name, roles) in document.classes.sorted(by: { $0.key < $1.key }) {
            advise(on: roles, ofClass: name, &findings)
        }
    }

    private func advise(on roles: [RuleRole], ofClass name: String?, _ findings: inout RulesFindings) {
        if let first = roles.firstIndex(where: \.applyWhen.isUnconditional) {
            for role in roles[(first + 1)...] {
                findings.add(
                    .unreachableRole, at: role.path,
                    "role \(role.name.shown) is never reached: \(roles[first].name.shown) before it applies to everybody",
                    hint: "put the special roles first")
            }
        }
        for role in roles {
            if role.write == false, role.fields.values.contains(where: \.allowsWriting) || role.additionalFields.write {
                findings.add(
                    .writeDenied, at: role.path.key("write"),
                    "write is false, which denies writing the fields that may be written as well",
                    hint: "leave write out, and the fields decide")
            }
            advise(on: role, ofClass: name, &findings)
        }
    }

    // MARK: Beside the schema

    private func advise(on role: RuleRole, ofClass name: String?, _ findings: inout RulesFindings) {
        let affected = name.map { [$0] } ?? schema?.classes.keys.filter { document.classes[$0] == nil }.sorted() ?? []
        for className in affected {
            guard let properties = schema?.classes[className] else { continue }
            for property in role.properties.sorted() where property != "_id" && properties[property] == nil {
                findings.add(
                    .missingProperty, at: role.path,
                    "class \(className.shown) has no property \(property.shown): nothing of it matches there",
                    hint: name == nil ? "give the class roles of its own" : nil)
            }
            if name == nil, let reason = role.incompatibility(with: className, document.queryable) {
                findings.add(
                    .missingProperty, at: role.path,
                    "role \(role.name.shown) shuts those whom it applies to out of class \(className.shown): \(reason)",
                    hint: "give the class roles of its own, or add the properties to /queryable/global")
            }
            for filter in [role.readFilter, role.writeFilter, role.insert, role.delete] {
                adviseOnTypes(filter.root, properties, of: className, &findings)
            }
        }
    }

    /// Text that is compared with an id or a time never equals it.
    private func adviseOnTypes(
        _ node: RuleNode, _ properties: [String: String], of className: String, _ findings: inout RulesFindings
    ) {
        switch node {
        case .constant: break
        case .every(let parts), .some(let parts):
            for part in parts { adviseOnTypes(part, properties, of: className, &findings) }
        case .not(let part): adviseOnTypes(part, properties, of: className, &findings)
        case .clause(let clause):
            guard case .property(let name) = clause.subject, let type = properties[name].flatMap(Self.plainType),
                clause.operand.isText
            else { return }
            findings.add(
                .typeMismatch, at: clause.path,
                "\(name.shown) of class \(className.shown) is of type \(type): text never equals it",
                hint: type == "date"
                    ? "write {\"$date\": ...}"
                    : "convert it, as in {\"%stringTo\(type == "uuid" ? "Uuid" : "Oid")\": \"%%user.id\"}")
        }
    }

    /// `objectId`, `uuid` or `date` if that is what a property or its elements are; nil for other types.
    private static func plainType(_ type: String) -> String? {
        var name = type.lowercased().filter { $0 != "?" }
        if let start = name.firstIndex(of: "<"), name.hasSuffix(">") {
            name = String(name[name.index(after: start)...].dropLast())
        }
        return switch name {
        case "objectid": "objectId"
        case "uuid": "uuid"
        case "date", "timestamp": "date"
        default: nil
        }
    }
}

extension RuleClause.Operand {
    /// Whether it is text, whatever the user.
    fileprivate var isText: Bool {
        switch self {
        case .literal(.string): true
        case .expansion(.user(let path)): path == ["id"] || path == ["type"]
        case .list(let operands): operands.contains(where: \.isText)
        case .converted(.objectIDToString, _), .converted(.uuidToString, _): true
        case .literal, .expansion, .converted, .unset: false
        }
    }
}
