import SyncModel

/// Where an expression stands, which decides what it may refer to.
enum ExpressionPlace: Sendable {
    case applyWhen
    /// A filter of objects, `insert` or `delete`: may look at queryable properties.
    case filter(Queryable.Scope)
    case partition

    var name: String {
        switch self {
        case .applyWhen: "apply_when"
        case .filter: "a filter"
        case .partition: "a partition rule"
        }
    }
}

/// Reads expressions of one document, and notes everything that is wrong with them.
struct ExpressionParser {
    let place: ExpressionPlace
    let constants: RuleConstants
    var findings: RulesFindings

    mutating func expression(_ json: JSONValue, at path: JSONPointer) -> RuleExpression {
        RuleExpression(source: json, root: node(json, at: path))
    }

    private mutating func node(_ json: JSONValue, at path: JSONPointer) -> RuleNode {
        switch json {
        case .bool(let value): return .constant(value)
        case .object(let members):
            // Keys in the order of their bytes, so that two readings of a document agree.
            let parts = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { key, value in member(key, value, at: path.key(key)) }
            return parts.count == 1 ? parts[0] : .every(parts)
        default:
            findings.add(
                .wrongType, at: path, "expected true, false or an object of conditions, found \(json.kind)")
            return .constant(false)
        }
    }

    // MARK: Members

    private mutating func member(_ key: String, _ value: JSONValue, at path: JSONPointer) -> RuleNode {
        if key.hasPrefix("%%") { return condition(on: expansion(key, at: path), value, at: path) }
        if key == "%function" || key == "$function" { return function(value, at: path) }
        guard key.hasPrefix("$") || key.hasPrefix("%") else { return condition(onProperty: key, value, at: path) }
        switch key.dropFirst() {
        case "and": return .every(parts(of: key, value, at: path))
        case "or": return .some(parts(of: key, value, at: path))
        case "nor": return .not(.some(parts(of: key, value, at: path)))
        case "not": return .not(node(value, at: path))
        case let name where RuleClause.Comparison(rawValue: String(name)) != nil:
            findings.add(
                .badOperand, at: path, "\(key) compares with something: it belongs behind a property or an expansion",
                hint: "write {\"<property or %%expansion>\": {\"\(key)\": ...}}")
        default: refuse(operator: key, at: path)
        }
        return .constant(false)
    }

    private mutating func parts(of key: String, _ value: JSONValue, at path: JSONPointer) -> [RuleNode] {
        guard case .array(let elements) = value, !elements.isEmpty else {
            findings.add(.badOperand, at: path, "\(key) needs a list of expressions, one at least")
            return []
        }
        return elements.enumerated().map { node($1, at: path.index($0)) }
    }

    private mutating func refuse(operator name: String, at path: JSONPointer) {
        let known = [
            "elemMatch", "regex", "expr", "where", "size", "type", "mod", "text", "geoWithin", "geoIntersects", "near",
            "nearSphere",
        ]
        if known.contains(String(name.dropFirst())) {
            findings.add(.forbiddenOperator, at: path, "\(name) cannot be used in rules for sync")
        } else {
            findings.add(
                .unknownOperator, at: path, "there is no operator \(name.shown)",
                hint: "$and $or $nor $not $eq $ne $gt $gte $lt $lte $in $nin $all $exists")
        }
    }

    private mutating func function(_ call: JSONValue, at path: JSONPointer) -> RuleNode {
        let name = call.objectValue?["name"]?.stringValue.map { "function \($0.shown)" } ?? "a function"
        findings.add(
            .function, at: path, "\(name) cannot be called: this server has no hooks for functions",
            hint: "write what the function decides as an expression, over %%user.custom_data where it looks things up")
        return .constant(false)
    }

    // MARK: Conditions

    private mutating func condition(onProperty name: String, _ value: JSONValue, at path: JSONPointer) -> RuleNode {
        switch place {
        case .applyWhen, .partition:
            findings.add(
                .propertyOutsideObject, at: path, "\(name.shown) names a property, but \(place.name) has no object",
                hint: "expansions begin with %%, as in %%user.id")
        case .filter(let scope):
            if let problem = scope.problem(with: name) {
                findings.add(.notQueryable, at: path, problem.message, hint: problem.hint)
            }
        }
        return condition(on: .property(name), value, at: path)
    }

    private mutating func condition(
        on subject: RuleClause.Subject?, _ value: JSONValue, at path: JSONPointer
    ) -> RuleNode {
        guard case .object(let members) = value, !isOperand(members) else {
            return clause(subject, .equal, value, source: value, at: path)
        }
        // {"%%true": {...}}: what follows is an expression of its own.
        if case .expansion(.constant(let wanted)) = subject, !members.keys.contains(where: isComparison) {
            let inner = node(value, at: path)
            return wanted ? inner : .not(inner)
        }
        guard !members.isEmpty else {
            findings.add(.badOperand, at: path, "expected a value or a comparison, found an empty object")
            return .constant(false)
        }
        let parts = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { key, operand in
            comparison(subject, key, operand, at: path.key(key))
        }
        return parts.count == 1 ? parts[0] : .every(parts)
    }

    private mutating func comparison(
        _ subject: RuleClause.Subject?, _ key: String, _ operand: JSONValue, at path: JSONPointer
    ) -> RuleNode {
        if key == "%function" || key == "$function" { return function(operand, at: path) }
        guard key.hasPrefix("$") || key.hasPrefix("%"), !key.hasPrefix("%%") else {
            findings.add(
                .badOperand, at: path, "expected an operator such as $in, found \(key.shown)",
                hint: "an object is no value to compare with; extended JSON such as {\"$oid\": ...} is")
            return .constant(false)
        }
        if key.dropFirst() == "not" { return .not(condition(on: subject, operand, at: path)) }
        guard let comparison = RuleClause.Comparison(rawValue: String(key.dropFirst())) else {
            if RuleConversion(rawValue: key) != nil || RuleValue.isWrapper(key) {
                findings.add(.badOperand, at: path, "\(key) must be the only key of its object")
            } else {
                refuse(operator: key, at: path)
            }
            return .constant(false)
        }
        return clause(subject, comparison, operand, source: .object([key: operand]), at: path)
    }

    private mutating func clause(
        _ subject: RuleClause.Subject?, _ comparison: RuleClause.Comparison, _ json: JSONValue, source: JSONValue,
        at path: JSONPointer
    ) -> RuleNode {
        let operand = operand(json, at: path)
        switch (comparison, operand) {
        case (.isIn, .literal), (.isNotIn, .literal), (.holdsAll, .literal), (.isIn, .converted),
            (.isNotIn, .converted), (.holdsAll, .converted):
            findings.add(.badOperand, at: path, "$\(comparison.rawValue) needs a list, or an expansion that is one")
        case (.exists, let operand):
            if case .literal(.bool) = operand { break }
            findings.add(.badOperand, at: path, "$exists needs true or false")
        default: break
        }
        guard let subject else { return .constant(false) }
        return .clause(
            RuleClause(subject: subject, comparison: comparison, operand: operand, source: source, path: path))
    }

    // MARK: Operands

    /// Whether an object stands for a value, as extended JSON and conversions do.
    private func isOperand(_ members: [String: JSONValue]) -> Bool {
        guard members.count == 1, let key = members.keys.first else { return false }
        return RuleValue.isWrapper(key) || RuleConversion(rawValue: key) != nil
    }

    private func isComparison(_ key: String) -> Bool {
        (key.hasPrefix("$") || key.hasPrefix("%")) && RuleClause.Comparison(rawValue: String(key.dropFirst())) != nil
    }

    private mutating func operand(_ json: JSONValue, at path: JSONPointer) -> RuleClause.Operand {
        switch json {
        case .string(let word) where word.hasPrefix("%%"):
            guard case .expansion(let expansion) = expansion(word, at: path) else { return .literal(.null) }
            return .expansion(expansion)
        case .array(let elements): return .list(elements.enumerated().map { operand($1, at: path.index($0)) })
        case .object(let members): return operand(members, at: path)
        default: return .literal(RuleValue(json))
        }
    }

    private mutating func operand(_ members: [String: JSONValue], at path: JSONPointer) -> RuleClause.Operand {
        if members.count == 1, let (key, value) = members.first {
            let inner = path.key(key)
            if key == "%function" || key == "$function" {
                _ = function(value, at: inner)
                return .literal(.null)
            }
            if let conversion = RuleConversion(rawValue: key) { return converted(conversion, value, at: inner) }
            if let literal = RuleValue.wrapped(members) { return .literal(literal) }
            if RuleValue.isWrapper(key) {
                findings.add(.badOperand, at: inner, "\(key) cannot be read: its value has another form")
                return .literal(.null)
            }
        }
        findings.add(
            .badOperand, at: path, "an object is no value to compare with",
            hint: "extended JSON such as {\"$oid\": ...} is, and so is {\"%stringToOid\": ...}")
        return .literal(.null)
    }

    private mutating func converted(
        _ conversion: RuleConversion, _ json: JSONValue, at path: JSONPointer
    ) -> RuleClause.Operand {
        let operand = operand(json, at: path)
        switch operand {
        case .expansion: break
        case .literal(let value):
            if !value.isNull, conversion.convert(value) != nil { break }
            findings.add(.badOperand, at: path, "\(conversion.rawValue) cannot convert this value")
        case .list, .converted, .unset:
            findings.add(.badOperand, at: path, "\(conversion.rawValue) needs a value or an expansion")
        }
        return .converted(conversion, operand)
    }

    // MARK: Expansions

    private mutating func expansion(_ word: String, at path: JSONPointer) -> RuleClause.Subject? {
        switch Expansion.read(word) {
        case .expansion(.partition):
            guard case .partition = place else {
                findings.add(.forbiddenExpansion, at: path, "%%partition has no value in \(place.name)")
                return nil
            }
            return .expansion(.partition)
        case .expansion(.values(let names)):
            let known = constants.values
            guard RuleValue.object(known).value(at: names[...]) != nil else {
                findings.add(
                    .unknownValue, at: path, "there is no \(word.shown)",
                    hint: known.isEmpty ? "add it to the document's values" : "known: \(known.keys.sorted().shown)")
                return nil
            }
            return .expansion(.values(names))
        case .expansion(let expansion): return .expansion(expansion)
        case .forbidden(let name):
            findings.add(.forbiddenExpansion, at: path, "\(name) cannot be used in rules for sync")
            return nil
        case .unknown:
            findings.add(
                .unknownExpansion, at: path, "there is no expansion \(word.shown)",
                hint: "%%true %%false %%user.id .type .data.* .custom_data.* .identities %%values.* %%environment.tag"
                    + " %%environment.values.* and, in partition rules, %%partition")
            return nil
        }
    }
}

extension JSONValue {
    /// What kind of value it is, in a word.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension String {
    /// The text in quotes, cut to 80 characters: it comes from outside.
    var shown: String { JSONText.quoted(String(prefix(80)), asciiOnly: false) }
}

extension [String] {
    /// The first of them.
    var shown: String { prefix(20).map(\.shown).joined(separator: ", ") }
}
