import SyncModel

/// Reads a rules document, and notes everything that is wrong with it.
struct RulesReader {
    var findings = RulesFindings()
    private var queryable = Queryable()
    private var constants = RuleConstants()

    private static let keys = [
        "generated", "partition", "defaultRoles", "classes", "values", "environment", "queryable",
    ]

    /// Nil if it is no document at all.
    mutating func document(_ json: JSONValue) -> RulesDocument? {
        guard let json = expanded(json, .document, at: .root) else { return nil }
        guard var members = findings.object(json, "a rules document", known: Self.keys, at: .root) else { return nil }
        readValues(members)
        if let list = members["queryable"] { queryable = readQueryable(list, at: .root.key("queryable")) }
        let partition = members["partition"].flatMap { value -> RulesDocument.Partition? in
            guard let value = expanded(value, .partition, at: .root.key("partition")) else { return nil }
            members["partition"] = value
            return readPartition(value, at: .root.key("partition"))
        }
        // Templates may add to what is queryable: they come before the roles that look at it.
        members = expandRoles(in: members)
        if queryable != Queryable() { members["queryable"] = queryable.json }
        let defaults = members["defaultRoles"].flatMap { roles($0, ofClass: nil, at: .root.key("defaultRoles")) }
        var classes: [String: [RuleRole]] = [:]
        for (name, list) in findings.object(members["classes"] ?? .object([:]), "classes", at: .root.key("classes"))
            ?? [:]
        {
            classes[name] = roles(list, ofClass: name, at: .root.key("classes").key(name))
        }
        return RulesDocument(
            source: .object(members), generated: generated(members["generated"]), partition: partition,
            defaultRoles: defaults, classes: classes, constants: constants, queryable: queryable)
    }

    private mutating func generated(_ json: JSONValue?) -> String? {
        guard let json else { return nil }
        guard let text = json.stringValue, ["upgrade", "development"].contains(text) else {
            findings.add(
                .wrongType, at: .root.key("generated"), "expected \"upgrade\" or \"development\"",
                hint: "leave it out: it marks what no operator wrote")
            return nil
        }
        return text
    }

    // MARK: Templates

    private mutating func expanded(
        _ json: JSONValue, _ kind: RuleTemplates.Kind, at path: JSONPointer
    ) -> JSONValue? {
        guard let use = templateUse(json) else { return json }
        return template(use, kind, at: path)?.json
    }

    /// Puts roles in the places of their templates, and adds the properties that they look at to the queryable ones.
    private mutating func expandRoles(in members: [String: JSONValue]) -> [String: JSONValue] {
        var members = members
        if let list = members["defaultRoles"], let use = templateUse(list) {
            let expansion = template(use, .roles, at: .root.key("defaultRoles"))
            members["defaultRoles"] = expansion?.json
            queryable.global.formUnion(expansion?.properties ?? [])
        }
        guard case .object(var classes)? = members["classes"] else { return members }
        for (name, list) in classes {
            let path = JSONPointer.root.key("classes").key(name)
            guard let use = templateUse(list) else { continue }
            let expansion = template(use, .roles, at: path)
            classes[name] = expansion?.json
            for property in expansion?.properties ?? []
            where !queryable.includes(property, of: name) {
                queryable.classes[name, default: []].insert(property)
            }
        }
        members["classes"] = .object(classes)
        return members
    }

    /// The template that stands in a place, with its parameters; nil if something else does.
    private func templateUse(_ json: JSONValue) -> [String: JSONValue]? {
        switch json {
        case .string: ["template": json]
        case .object(let members) where members["template"] != nil: members
        default: nil
        }
    }

    private mutating func template(
        _ use: [String: JSONValue], _ kind: RuleTemplates.Kind, at path: JSONPointer
    ) -> RuleTemplates.Expansion? {
        guard let name = use["template"]?.stringValue, let template = RuleTemplates.named(name, kind) else {
            findings.add(
                .unknownTemplate, at: path,
                "there is no template of \(kind.rawValue) called \(use["template"]?.shown ?? "")",
                hint: "known: \(RuleTemplates.names(of: kind).joined(separator: ", "))")
            return nil
        }
        var parameters = template.parameters
        for (key, value) in use where key != "template" {
            guard parameters[key] != nil, let text = value.stringValue, !text.isEmpty, !text.contains("%") else {
                let known = parameters.keys.sorted().joined(separator: ", ")
                findings.add(
                    .badParameter, at: path.key(key), "template \(name) takes no such parameter",
                    hint: known.isEmpty ? "it takes none" : "it takes these, each a name: \(known)")
                return nil
            }
            parameters[key] = text
        }
        let expansion = template.expand(parameters)
        for (key, value) in use.sorted(by: { $0.key < $1.key }) where key != "template" {
            guard let property = value.stringValue, expansion.properties.contains(property) else { continue }
            check(property: property, at: path.key(key))
        }
        return expansion
    }

    // MARK: Parts

    private mutating func readValues(_ members: [String: JSONValue]) {
        if let values = members["values"] {
            constants.values =
                findings.object(values, "values", at: .root.key("values"))?.mapValues { RuleValue($0) } ?? [:]
        }
        guard let environment = members["environment"] else { return }
        let path = JSONPointer.root.key("environment")
        guard let parts = findings.object(environment, "environment", known: ["tag", "values"], at: path) else {
            return
        }
        if let tag = parts["tag"] {
            if let text = tag.stringValue {
                constants.environmentTag = text
            } else {
                findings.add(.wrongType, at: path.key("tag"), "expected a string, found \(tag.kind)")
            }
        }
        if let values = parts["values"] {
            constants.environmentValues =
                findings.object(values, "values", at: path.key("values"))?.mapValues { RuleValue($0) } ?? [:]
        }
    }

    private mutating func readPartition(_ json: JSONValue, at path: JSONPointer) -> RulesDocument.Partition? {
        guard let parts = findings.object(json, "partition", known: ["read", "write"], at: path) else { return nil }
        guard let read = parts["read"], let write = parts["write"] else {
            findings.add(
                .missingKey, at: path, "\"\(parts["read"] == nil ? "read" : "write")\" is missing",
                hint: "{\"read\": ..., \"write\": ...}, each an expression")
            return nil
        }
        return RulesDocument.Partition(
            read: findings.expression(read, .partition, constants, at: path.key("read")),
            write: findings.expression(write, .partition, constants, at: path.key("write")))
    }

    private mutating func readQueryable(_ json: JSONValue, at path: JSONPointer) -> Queryable {
        var queryable = Queryable()
        guard let parts = findings.object(json, "queryable", known: ["global", "classes", "indexed"], at: path) else {
            return queryable
        }
        queryable.isComplete = parts["classes"] == nil
        if let global = parts["global"] { queryable.global = names(global, at: path.key("global")) }
        if let indexed = parts["indexed"] {
            if let name = indexed.stringValue {
                queryable.indexed = name
                check(property: name, at: path.key("indexed"))
            } else {
                findings.add(
                    .wrongType, at: path.key("indexed"), "expected the name of one property, found \(indexed.kind)")
            }
        }
        for (name, list) in findings.object(parts["classes"] ?? .object([:]), "classes", at: path.key("classes")) ?? [:]
        {
            queryable.classes[name] = names(list, at: path.key("classes").key(name))
        }
        return queryable
    }

    private mutating func names(_ json: JSONValue, at path: JSONPointer) -> Set<String> {
        guard let elements = json.arrayValue else {
            findings.add(.wrongType, at: path, "expected a list of names, found \(json.kind)")
            return []
        }
        var names: Set<String> = []
        for (index, element) in elements.enumerated() {
            guard let name = element.stringValue else {
                findings.add(.wrongType, at: path.index(index), "expected a name, found \(element.kind)")
                continue
            }
            check(property: name, at: path.index(index))
            names.insert(name)
        }
        return names
    }

    private mutating func check(property name: String, at path: JSONPointer) {
        if Queryable.isReserved(name) {
            findings.add(.reservedWord, at: path, "\(name.shown) is a word of the query language")
        } else if name.isEmpty || name.contains(".") {
            findings.add(
                .badQueryable, at: path, "\(name.shown) cannot be queryable",
                hint: "only whole properties of an object can: scalars and lists of scalars")
        }
    }

    // MARK: Roles

    private mutating func roles(_ json: JSONValue, ofClass name: String?, at path: JSONPointer) -> [RuleRole]? {
        guard let elements = json.arrayValue else {
            findings.add(
                .wrongType, at: path, "expected a list of roles, found \(json.kind)",
                hint: "or the name of a template: \(RuleTemplates.names(of: .roles).joined(separator: ", "))")
            return nil
        }
        guard elements.count <= RulesLimits.rolesPerList else {
            findings.add(
                .tooManyRoles, at: path, "\(elements.count) roles; a list has at most \(RulesLimits.rolesPerList)")
            return nil
        }
        var seen: Set<String> = []
        let roles = elements.enumerated().compactMap { index, element in
            RoleReader(
                scope: Queryable.Scope(queryable: queryable, className: name), constants: constants,
                path: path.index(index)
            ).role(element, into: &findings)
        }
        for role in roles where !role.name.isEmpty && !seen.insert(role.name).inserted {
            findings.add(
                .duplicateName, at: role.path.key("name"), "another role of the list is called \(role.name.shown)")
        }
        return roles
    }
}

extension RulesFindings {
    /// Reads an expression and notes what is wrong with it.
    mutating func expression(
        _ json: JSONValue, _ place: ExpressionPlace, _ constants: RuleConstants, at path: JSONPointer
    ) -> RuleExpression {
        var parser = ExpressionParser(place: place, constants: constants, findings: self)
        let expression = parser.expression(json, at: path)
        self = parser.findings
        return expression
    }

    /// The members of an object that has no other keys than these; nil if it is none.
    mutating func object(
        _ json: JSONValue, _ what: String, known: [String]? = nil, at path: JSONPointer
    ) -> [String: JSONValue]? {
        guard let members = json.objectValue else {
            add(.wrongType, at: path, "expected an object for \(what), found \(json.kind)")
            return nil
        }
        guard let known else { return members }
        for key in members.keys.sorted() where !known.contains(key) {
            add(
                .unknownKey, at: path.key(key), "\(key.shown) is no key of \(what)",
                hint: "known: \(known.joined(separator: ", "))")
        }
        return members
    }
}

extension JSONValue {
    fileprivate var shown: String { stringValue.map(\.shown) ?? kind }
}
