import SyncModel

/// Warns of what a sound document may not have meant.
struct RulesAdvice {
    let document: RulesDocument
    let schema: RulesSchema?

    /// Nil where nothing is known of the app.
    let app: RulesApp?

    func add(to findings: inout RulesFindings) {
        if let mode = app?.syncMode { adviseOnMode(mode, &findings) }
        if let roles = document.defaultRoles { advise(on: roles, ofClass: nil, &findings) }
        for (name, roles) in document.classes.sorted(by: { $0.key < $1.key }) {
            advise(on: roles, ofClass: name, &findings)
        }
        let lists = [document.defaultRoles ?? []] + document.classes.sorted { $0.key < $1.key }.map(\.value)
        let conditions =
            [document.partition?.write, document.partition?.read].compactMap(\.self)
            + lists.joined().flatMap { [$0.applyWhen, $0.readFilter, $0.writeFilter, $0.insert, $0.delete] }
        for clause in conditions.flatMap(\.root.clauses) { adviseOnUsers(clause, &findings) }
    }

    private func adviseOnMode(_ mode: SyncMode, _ findings: inout RulesFindings) {
        switch mode {
        case .partition where document.partition == nil:
            findings.add(
                .noPartitionRules, at: .root, "there are no partition rules: nobody may read or write any partition",
                hint: "\"partition\": {\"read\": ..., \"write\": ...}, or a template's name")
        case .flexible where (document.defaultRoles ?? []).isEmpty && document.classes.values.allSatisfy(\.isEmpty):
            findings.add(
                .noRoles, at: .root, "there are no roles: nobody may read or write any object",
                hint: "\"defaultRoles\": a list of roles, or a template's name")
        case .partition, .flexible: break
        }
    }

    /// Warns of a clause that tells whom a rule is for by what may be untrue or of another server.
    private func adviseOnUsers(_ clause: RuleClause, _ findings: inout RulesFindings) {
        if let app, !app.emailsAreConfirmed, let email = clause.expansions.first(where: \.isEmail) {
            findings.add(
                .unconfirmedEmail, at: clause.path,
                "\(email.word) is what somebody has typed in: nobody confirms addresses, so anybody may register with this one",
                hint: "have addresses confirmed (sluice logins set, local-userpass), or decide by %%user.custom_data")
        }
        guard clause.namesUsers(document.constants) else { return }
        findings.add(
            .literalUserID, at: clause.path,
            "ids of users stand in the rules: accounts have others here than elsewhere, and whoever registers anew has a new one",
            hint: "mark such users in their custom data, as {\"%%user.custom_data.isAdmin\": true} looks at it")
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
        adviseOnDoubts(of: roles, &findings)
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

    /// Roles that are passed over where their condition is unknown, for later ones that give more: nobody gets those.
    private func adviseOnDoubts(of roles: [RuleRole], _ findings: inout RulesFindings) {
        let end = roles.firstIndex(where: \.applyWhen.isUnconditional).map { $0 + 1 } ?? roles.endIndex
        for (index, role) in roles[..<end].enumerated() {
            guard let doubt = role.applyWhen.root.doubts.first,
                let later = roles[(index + 1)..<max(end, index + 1)].first(where: {
                    !RoleComparison.gives($0, noMoreThan: role)
                })
            else { continue }
            findings.add(
                .unsetOpens, at: role.path.key("apply_when"),
                "for users without \(doubt.word) it is unknown if role \(role.name.shown) applies; role \(later.name.shown)"
                    + " behind it would give them more, so they get nothing",
                hint:
                    "begin with {\"$and\": [{\"\(doubt.word)\": {\"$exists\": true}}, ...]}, and they come to the later roles"
            )
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

extension RuleClause {
    fileprivate var expansions: [Expansion] {
        var found = operand.expansions
        if case .expansion(let expansion) = subject { found.append(expansion) }
        return found
    }

    /// Says that the user's id is compared with one that stands in the document.
    fileprivate func namesUsers(_ constants: RuleConstants) -> Bool {
        guard comparison != .exists, case .expansion(let expansion) = subject else { return false }
        if expansion.isUserID { return operand.namesText(constants) }
        return operand.expansions.contains(where: \.isUserID) && Operand.expansion(expansion).namesText(constants)
    }
}

extension RuleClause.Operand {
    fileprivate var expansions: [Expansion] {
        switch self {
        case .expansion(let expansion): [expansion]
        case .list(let operands): operands.flatMap(\.expansions)
        case .converted(_, let operand): operand.expansions
        case .literal, .unset: []
        }
    }

    /// Whether the operand is a text or an id that is the same for all users, or has one.
    fileprivate func namesText(_ constants: RuleConstants) -> Bool {
        switch self {
        case .literal(let value): value.isText
        case .list(let operands): operands.contains { $0.namesText(constants) }
        case .converted(_, let operand): operand.namesText(constants)
        case .expansion(let expansion):
            switch expansion {
            case .values, .environment:
                expansion.value(in: RuleScope(user: RuleUser(id: ""), constants: constants))?.isText == true
            case .constant, .partition, .user: false
            }
        case .unset: false
        }
    }
}

extension RuleValue {
    fileprivate var isText: Bool {
        switch self {
        case .string, .objectID: true
        case .array(let elements): elements.contains(where: \.isText)
        default: false
        }
    }
}

extension Expansion {
    fileprivate var isEmail: Bool {
        guard case .user(let path) = self else { return false }
        return path == ["data", "email"] || (path.first == "identities" && path.suffix(2) == ["data", "email"])
    }

    fileprivate var isUserID: Bool {
        guard case .user(let path) = self else { return false }
        return path == ["id"] || (path.first == "identities" && path.last == "id")
    }
}
