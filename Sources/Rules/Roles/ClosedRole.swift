import SyncModel

/// The rights of a user to the objects of a class: a role, closed.
package struct ClosedRole: Equatable, Sendable {
    package typealias FieldRule = RuleRole.FieldRule

    package var name: String
    package var readFilter: ClosedCondition
    package var writeFilter: ClosedCondition
    package var insert: ClosedCondition
    package var delete: ClosedCondition
    /// Whole-object permission; nil leaves it to the fields.
    package var read: Bool?
    package var write: Bool?
    package var fields: [String: FieldRule]
    package var additionalFields: FieldRule

    init(_ role: RuleRole, in scope: RuleScope) {
        name = role.name
        readFilter = role.readFilter.root.closed(in: scope)
        writeFilter = role.writeFilter.root.closed(in: scope)
        insert = role.insert.root.closed(in: scope)
        delete = role.delete.root.closed(in: scope)
        read = role.read
        write = role.write
        fields = role.fields
        additionalFields = role.additionalFields
    }

    /// The properties that the role's conditions look at.
    package var properties: Set<String> {
        [readFilter, writeFilter, insert, delete].reduce(into: []) { $0.formUnion($1.properties) }
    }

    // MARK: Deciding (docs/rules.md, "Roles")

    /// Whether a property of an object that the filters let through may be read.
    package func mayRead(_ field: String) -> Bool {
        switch (read, write) {
        case (true, _), (_, true): return true
        case (false, _): return false
        case (nil, _):
            let rule = fields[field] ?? additionalFields
            return rule.read || rule.write
        }
    }

    /// Whether a property of an object that the write filter lets through may be written.
    package func mayWrite(_ field: String) -> Bool {
        if let write { return write }
        return (fields[field] ?? additionalFields).write
    }

    /// Whether the filters let the user at an object for reading: who may write may read.
    package func isVisible(_ property: (String) -> RuleValue?) -> Bool {
        var steps = RuleSteps()
        return isVisible(property, &steps)
    }

    /// - Parameter steps: if nothing is left of them, what is returned does not count.
    package func isVisible(_ property: (String) -> RuleValue?, _ steps: inout RuleSteps) -> Bool {
        readFilter.holds(property, &steps) || writeFilter.holds(property, &steps)
    }

    /// The values of which a property must have one for an object to be visible; nil if others may do as well.
    package func visibleValues(of property: String) -> [RuleValue]? {
        guard let read = readFilter.allowedValues(of: property), let write = writeFilter.allowedValues(of: property)
        else { return nil }
        return read + write
    }
}

/// A user's roles in all classes, as they were when a session began. Equal texts mean equal permissions.
package struct ClosedRoles: Equatable, Sendable {
    /// The user's roles in the classes that have roles of their own; nil where none of them is the user's.
    fileprivate var classes: [String: ClosedRole?]
    /// The user's role in all other classes.
    fileprivate var others: ClosedRole?
    /// The classes for which the role of all others can be used; nil if it can be for every class.
    fileprivate var onlyFor: Set<String>?

    /// Nobody may do anything.
    package static let none = ClosedRoles(classes: [:], others: nil, onlyFor: nil)

    /// Nil: the user has no role in the class, and may neither read nor write.
    package func role(ofClass name: String) -> ClosedRole? {
        if let own = classes[name] { return own }
        if let onlyFor, !onlyFor.contains(name) { return nil }
        return others
    }
}

extension ClosedRoles {
    /// The roles as text.
    package var text: String { JSONWriter.text(of: json) }

    private var json: JSONValue {
        var members: [String: JSONValue] = ["classes": .object(classes.mapValues { $0.map(\.json) ?? .null })]
        if let others { members["others"] = others.json }
        if let onlyFor { members["onlyFor"] = .array(onlyFor.sorted().map { .string($0) }) }
        return .object(members)
    }

    /// Nil for a text that is not one of `text`.
    package init?(text: String) {
        guard let members = (try? JSONParser.parse(text))?.objectValue, let own = members["classes"]?.objectValue else {
            return nil
        }
        var classes: [String: ClosedRole?] = [:]
        for (name, json) in own {
            if json == .null {
                classes.updateValue(nil, forKey: name)
            } else {
                guard let role = ClosedRole(json: json) else { return nil }
                classes.updateValue(role, forKey: name)
            }
        }
        var others: ClosedRole?
        if let json = members["others"] {
            guard let role = ClosedRole(json: json) else { return nil }
            others = role
        }
        let onlyFor = members["onlyFor"]?.arrayValue.map { Set($0.compactMap(\.stringValue)) }
        self.init(classes: classes, others: others, onlyFor: onlyFor)
    }
}

extension RulesDocument {
    /// A user's roles, closed.
    package func closedRoles(of user: RuleUser) -> ClosedRoles {
        let scope = scope(of: user, partition: nil)
        let own = classes.keys.map { name in
            (name, roleChoice(ofClass: name, for: user).role.map { ClosedRole($0, in: scope) })
        }
        var first: RuleRole?
        var onlyFor: Set<String>?
        if let defaultRoles, case .role(let role) = Self.choose(of: defaultRoles, in: scope).outcome {
            first = role
            let narrow = role.properties.filter { !queryable.includes($0, of: "") }
            if !narrow.isEmpty {
                onlyFor = Set(queryable.classes.filter { narrow.isSubset(of: $0.value) }.keys)
            }
        }
        return ClosedRoles(
            classes: Dictionary(uniqueKeysWithValues: own), others: first.map { ClosedRole($0, in: scope) },
            onlyFor: onlyFor)
    }
}

// MARK: - As JSON

extension ClosedRole {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(name), "readFilter": readFilter.json, "writeFilter": writeFilter.json,
            "insert": insert.json, "delete": delete.json,
        ]
        members["read"] = read.map { .bool($0) }
        members["write"] = write.map { .bool($0) }
        if !fields.isEmpty { members["fields"] = .object(fields.mapValues(\.json)) }
        if additionalFields != FieldRule() { members["additional"] = additionalFields.json }
        return .object(members)
    }

    fileprivate init?(json: JSONValue) {
        func condition(_ key: String) -> ClosedCondition? {
            json.objectValue?[key].flatMap { ClosedCondition(json: $0) }
        }
        guard let members = json.objectValue, let name = members["name"]?.stringValue,
            let readFilter = condition("readFilter"), let writeFilter = condition("writeFilter"),
            let insert = condition("insert"), let delete = condition("delete")
        else { return nil }
        self.name = name
        self.readFilter = readFilter
        self.writeFilter = writeFilter
        self.insert = insert
        self.delete = delete
        read = members["read"]?.boolValue
        write = members["write"]?.boolValue
        fields = (members["fields"]?.objectValue ?? [:]).mapValues { FieldRule(json: $0) }
        additionalFields = members["additional"].map { FieldRule(json: $0) } ?? FieldRule()
    }
}

extension RuleRole.FieldRule {
    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["read": .bool(read), "write": .bool(write)]
        if !fields.isEmpty { members["fields"] = .object(fields.mapValues(\.json)) }
        return .object(members)
    }

    fileprivate init(json: JSONValue) {
        self.init()
        read = json.objectValue?["read"]?.boolValue ?? false
        write = json.objectValue?["write"]?.boolValue ?? false
        fields = (json.objectValue?["fields"]?.objectValue ?? [:]).mapValues { Self(json: $0) }
    }
}
