import SyncModel

/// A condition on an object's properties alone: a filter of a role in which all that depends on the user, the app's values and
/// the environment has been replaced by what it was when a session began.
package indirect enum ClosedCondition: Equatable, Sendable {
    /// A part that no object can change, `unknown` if it rests on something unset.
    case constant(Truth)
    case every([ClosedCondition])
    case some([ClosedCondition])
    case not(ClosedCondition)
    case comparison(ClosedComparison)

    package static let always = ClosedCondition.constant(.true)
    package static let never = ClosedCondition.constant(.false)

    /// - Parameter property: the object's value of a property; nil if its class has none of that name.
    package func truth(_ property: (String) -> RuleValue?) -> Truth {
        var steps = RuleSteps()
        return truth(property, &steps)
    }

    /// - Parameter steps: if nothing is left of them, what is returned does not count.
    package func truth(_ property: (String) -> RuleValue?, _ steps: inout RuleSteps) -> Truth {
        switch self {
        case .constant(let truth): return truth
        case .every(let parts):
            var truth = Truth.true
            for part in parts where truth != .false && !steps.isSpent { truth = truth && part.truth(property, &steps) }
            return truth
        case .some(let parts):
            var truth = Truth.false
            for part in parts where truth != .true && !steps.isSpent { truth = truth || part.truth(property, &steps) }
            return truth
        case .not(let part): return !part.truth(property, &steps)
        case .comparison(let comparison): return comparison.truth(property, &steps)
        }
    }

    /// Whether the condition holds for an object: an unknown does not.
    package func holds(_ property: (String) -> RuleValue?) -> Bool { truth(property) == .true }

    /// - Parameter steps: if nothing is left of them, what is returned does not count.
    package func holds(_ property: (String) -> RuleValue?, _ steps: inout RuleSteps) -> Bool {
        truth(property, &steps) == .true
    }

    /// The properties that the condition looks at.
    package var properties: Set<String> {
        switch self {
        case .constant: []
        case .every(let parts), .some(let parts): parts.reduce(into: []) { $0.formUnion($1.properties) }
        case .not(let part): part.properties
        case .comparison(let comparison): [comparison.property]
        }
    }

    /// The values of which a property must have one for the condition to hold, none if it never holds; nil if others may do as well.
    /// A property that holds a list is taken to have all of its elements.
    package func allowedValues(of property: String) -> [RuleValue]? {
        switch self {
        case .constant(let truth): return truth == .true ? nil : []
        case .every(let parts):
            return parts.compactMap { $0.allowedValues(of: property) }.min { $0.count < $1.count }
        case .some(let parts):
            let allowed = parts.map { $0.allowedValues(of: property) }
            return allowed.contains { $0 == nil } ? nil : allowed.flatMap { $0 ?? [] }
        case .not: return nil
        case .comparison(let comparison):
            guard comparison.property == property else { return nil }
            switch comparison.comparison {
            case .equal where !comparison.hasList: return comparison.operand.prefix(1).compactMap(\.self)
            case .isIn where comparison.hasList: return comparison.operand.compactMap(\.self)
            default: return nil
            }
        }
    }
}

/// A comparison of an object's property with values.
package struct ClosedComparison: Sendable {
    let property: String
    let comparison: RuleClause.Comparison
    /// What the property is compared with; of `in`, `nin` and `all`, the candidates. Nil is unset.
    let operand: [RuleValue?]
    /// `in`, `nin` and `all` have something to look in.
    let hasList: Bool
    /// The operand as one value; nil if it is unset.
    private let value: RuleValue?
    /// Nil if there is nothing to look in.
    private let candidates: RuleCandidates?

    init(property: String, comparison: RuleClause.Comparison, operand: [RuleValue?], hasList: Bool) {
        self.property = property
        self.comparison = comparison
        self.operand = operand
        self.hasList = hasList
        switch comparison {
        case .isIn, .isNotIn, .holdsAll:
            value = nil
            // What comes out of a list that is one value is unset where it is null.
            let elements = operand.first.flatMap(\.self)?.elements?.map { $0.isNull ? nil : $0 }
            candidates = (hasList ? operand : elements).map { RuleCandidates($0) }
        default:
            let set = operand.compactMap(\.self)
            value = hasList ? (set.count == operand.count ? .array(set) : nil) : operand.first.flatMap(\.self)
            candidates = nil
        }
    }

    fileprivate func truth(_ property: (String) -> RuleValue?, _ steps: inout RuleSteps) -> Truth {
        steps.take(RuleSteps.perComparison)
        let found = property(self.property)
        if comparison == .exists {
            guard case .bool(let wanted)? = value, !hasList else { return .unknown }
            return Truth((found != nil) == wanted)
        }
        // A property that an object lacks is null, as in MongoDB.
        let left = found ?? .null
        switch comparison {
        case .exists, .equal: return equality(left, &steps)
        case .notEqual: return !equality(left, &steps)
        case .less: return order(left, &steps) { $0.precedes($1) }
        case .greater: return order(left, &steps) { $1.precedes($0) }
        case .lessOrEqual: return order(left, &steps) { $0 == $1 ? true : $0.precedes($1) }
        case .greaterOrEqual: return order(left, &steps) { $0 == $1 ? true : $1.precedes($0) }
        case .isIn: return candidates?.some(of: left, &steps) ?? .unknown
        case .isNotIn: return !(candidates?.some(of: left, &steps) ?? .unknown)
        case .holdsAll: return candidates?.all(of: left, &steps) ?? .unknown
        }
    }

    private func equality(_ left: RuleValue, _ steps: inout RuleSteps) -> Truth {
        guard let value else { return .unknown }
        steps.take(left.steps)
        return Truth(left.isOrHolds(value))
    }

    /// Compares a value by order; one element of a list that is in order is enough.
    private func order(
        _ left: RuleValue, _ steps: inout RuleSteps, _ isInOrder: (RuleValue, RuleValue) -> Bool?
    ) -> Truth {
        guard let value else { return .unknown }
        steps.take(2 * left.steps)
        if isInOrder(left, value) == true { return .true }
        return Truth(left.elements?.contains { isInOrder($0, value) == true } ?? false)
    }
}

extension ClosedComparison: Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.property == right.property && left.comparison == right.comparison && left.hasList == right.hasList
            && left.operand == right.operand
    }
}

// MARK: - Closing

extension RuleNode {
    /// The condition with everything replaced that is known in a scope.
    func closed(in scope: RuleScope) -> ClosedCondition {
        switch self {
        case .constant(let value): return .constant(Truth(value))
        case .every(let parts):
            let closed = parts.map { $0.closed(in: scope) }.filter { $0 != .always }
            if closed.contains(.never) { return .never }
            return closed.isEmpty ? .always : closed.count == 1 ? closed[0] : .every(closed)
        case .some(let parts):
            let closed = parts.map { $0.closed(in: scope) }.filter { $0 != .never }
            if closed.contains(.always) { return .always }
            return closed.isEmpty ? .never : closed.count == 1 ? closed[0] : .some(closed)
        case .not(let part):
            let closed = part.closed(in: scope)
            if case .constant(let truth) = closed { return .constant(!truth) }
            return .not(closed)
        case .clause(let clause): return clause.closed(in: scope)
        }
    }
}

extension RuleClause {
    fileprivate func closed(in scope: RuleScope) -> ClosedCondition {
        guard case .property(let name) = subject else { return .constant(judge(in: scope).truth) }
        switch comparison {
        case .isIn, .isNotIn, .holdsAll:
            guard let candidates = operand.candidates(in: scope) else { return .constant(.unknown) }
            return .comparison(
                ClosedComparison(
                    property: name, comparison: comparison, operand: candidates.map(\.value), hasList: true))
        default:
            return .comparison(
                ClosedComparison(
                    property: name, comparison: comparison, operand: [operand.value(in: scope)], hasList: false))
        }
    }
}

// MARK: - As JSON

extension ClosedCondition {
    var json: JSONValue {
        switch self {
        case .constant(.true): .bool(true)
        case .constant(.false): .bool(false)
        case .constant(.unknown): .null
        case .every(let parts): ["every": .array(parts.map(\.json))]
        case .some(let parts): ["some": .array(parts.map(\.json))]
        case .not(let part): ["not": part.json]
        case .comparison(let comparison):
            [
                "property": .string(comparison.property), "is": .string(comparison.comparison.rawValue),
                comparison.hasList ? "values" : "value": .array(
                    comparison.operand.map { $0.map { ["v": $0.tagged] } ?? .null }),
            ]
        }
    }

    /// Nil for JSON that is no condition.
    init?(json: JSONValue) {
        func parts(_ json: JSONValue?) -> [ClosedCondition]? {
            guard let elements = json?.arrayValue else { return nil }
            let parts = elements.compactMap { ClosedCondition(json: $0) }
            return parts.count == elements.count ? parts : nil
        }
        switch json {
        case .bool(let value): self = .constant(Truth(value))
        case .null: self = .constant(.unknown)
        case .object(let members):
            if let every = members["every"] {
                guard let parts = parts(every) else { return nil }
                self = .every(parts)
            } else if let some = members["some"] {
                guard let parts = parts(some) else { return nil }
                self = .some(parts)
            } else if let part = members["not"] {
                guard let part = ClosedCondition(json: part) else { return nil }
                self = .not(part)
            } else {
                guard let comparison = ClosedComparison(members) else { return nil }
                self = .comparison(comparison)
            }
        case .integer, .number, .string, .array: return nil
        }
    }
}

extension ClosedComparison {
    fileprivate init?(_ members: [String: JSONValue]) {
        guard let property = members["property"]?.stringValue,
            let comparison = members["is"]?.stringValue.flatMap(RuleClause.Comparison.init(rawValue:)),
            let values = (members["values"] ?? members["value"])?.arrayValue
        else { return nil }
        var operand: [RuleValue?] = []
        for value in values {
            if value == .null {
                operand.append(nil)
            } else {
                guard let tagged = value.objectValue?["v"], let value = RuleValue(tagged: tagged) else { return nil }
                operand.append(value)
            }
        }
        self.init(
            property: property, comparison: comparison, operand: operand, hasList: members["values"] != nil)
    }
}
