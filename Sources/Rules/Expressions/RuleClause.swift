import SyncModel

/// One comparison of a condition: what is looked at, how, and what with.
struct RuleClause: Sendable {
    enum Subject: Sendable, Equatable {
        /// A property of the object in question.
        case property(String)
        case expansion(Expansion)
    }

    enum Comparison: String, Sendable, CaseIterable {
        case equal = "eq"
        case notEqual = "ne"
        case less = "lt"
        case lessOrEqual = "lte"
        case greater = "gt"
        case greaterOrEqual = "gte"
        case isIn = "in"
        case isNotIn = "nin"
        case holdsAll = "all"
        case exists
    }

    indirect enum Operand: Sendable {
        case literal(RuleValue)
        case expansion(Expansion)
        case list([Operand])
        case converted(RuleConversion, Operand)
        /// An expansion that is unset, in a closed condition.
        case unset
    }

    /// A clause's verdict, and what its two sides were; nil for what is unset.
    struct Judgement {
        var truth: Truth
        var subject: RuleValue?
        var operand: RuleValue?
    }

    /// One side of a comparison.
    struct Side {
        /// Nil if it is unset, or cannot be told.
        var value: RuleValue?
        /// Whether the value stands in the rule itself.
        var isLiteral = false
        /// Whether it is known that there is no value. Nobody knows that of a partition or a conversion without a value.
        var isMissing = false
    }

    var subject: Subject
    var comparison: Comparison
    var operand: Operand
    /// The clause as JSON, and where it stands in the document.
    var source: JSONValue
    var path: JSONPointer

    func judge(in scope: RuleScope) -> Judgement {
        let found = value(in: scope)
        return Judgement(truth: verdict(found, in: scope), subject: found, operand: operand.value(in: scope))
    }

    private func value(in scope: RuleScope) -> RuleValue? {
        switch subject {
        case .property(let name): scope.property(name)
        case .expansion(let expansion): expansion.value(in: scope)
        }
    }

    /// - Parameter found: what the subject is; nil if it is unset, or the object lacks the property.
    func verdict(_ found: RuleValue?, in scope: RuleScope) -> Truth {
        let left = side(of: found, in: scope)
        switch comparison {
        case .exists:
            guard case .literal(.bool(let wanted)) = operand else { return .unknown }
            if case .expansion = subject, found == nil, !left.isMissing { return .unknown }
            return Truth((found != nil) == wanted)
        case .equal: return Self.equality(left, operand.side(in: scope))
        case .notEqual: return !Self.equality(left, operand.side(in: scope))
        case .less: return order(left, in: scope) { $0.precedes($1) }
        case .greater: return order(left, in: scope) { $1.precedes($0) }
        case .lessOrEqual: return order(left, in: scope) { $0 == $1 ? true : $0.precedes($1) }
        case .greaterOrEqual: return order(left, in: scope) { $0 == $1 ? true : $1.precedes($0) }
        case .isIn: return some(of: left, in: scope)
        case .isNotIn: return !some(of: left, in: scope)
        case .holdsAll: return all(of: left, in: scope)
        }
    }

    /// A property that an object lacks is null, as in MongoDB. What a user lacks is so beside a literal alone: beside a property it
    /// would match every object that has no value.
    private func side(of found: RuleValue?, in scope: RuleScope) -> Side {
        switch subject {
        case .property: Side(value: found ?? .null)
        case .expansion(let expansion): expansion.side(of: found, in: scope, nullIsUnset: expansion != .partition)
        }
    }

    /// The two values to compare; nil if the verdict is unknown. Beside a literal, what is unset is what a missing field is in
    /// MongoDB, so that a role that shuts out whoever lacks something is not passed over.
    private static func values(_ left: Side, _ right: Side) -> (RuleValue, RuleValue)? {
        switch (left.value, right.value) {
        case (let left?, let right?): (left, right)
        case (nil, let value?): left.isMissing && right.isLiteral ? (.null, value) : nil
        case (let value?, nil): right.isMissing && left.isLiteral ? (value, .null) : nil
        case (nil, nil): nil
        }
    }

    private static func equality(_ left: Side, _ right: Side) -> Truth {
        guard let (left, right) = values(left, right) else { return .unknown }
        return Truth(left.isOrHolds(right))
    }

    /// Values of two kinds are in no order: false. Of a list, one element that is in order is enough.
    private func order(
        _ left: Side, in scope: RuleScope, _ isInOrder: (RuleValue, RuleValue) -> Bool?
    ) -> Truth {
        guard let (left, right) = Self.values(left, operand.side(in: scope)) else { return .unknown }
        return Truth(([left] + (left.elements ?? [])).contains { isInOrder($0, right) == true })
    }

    /// Whether the value is in the operand's list. Elements of the list that are unset may be it.
    private func some(of left: Side, in scope: RuleScope) -> Truth {
        operand.candidates(in: scope)?.reduce(.false) { $0 || Self.equality(left, $1) } ?? .unknown
    }

    /// Nothing holds all of an empty list, as in MongoDB.
    private func all(of left: Side, in scope: RuleScope) -> Truth {
        guard let candidates = operand.candidates(in: scope) else { return .unknown }
        return candidates.isEmpty ? .false : candidates.reduce(.true) { $0 && Self.equality(left, $1) }
    }
}

extension RuleClause.Operand {
    /// Nil if it is unset. So is a null that comes out of an expansion: read as one it would match everything that has no value.
    func value(in scope: RuleScope) -> RuleValue? { side(in: scope).value }

    func side(in scope: RuleScope) -> RuleClause.Side {
        switch self {
        case .literal(let value): return .init(value: value, isLiteral: true)
        case .unset: return .init()
        case .expansion(let expansion):
            return expansion.side(of: expansion.value(in: scope), in: scope, nullIsUnset: true)
        case .list(let operands):
            let sides = operands.map { $0.side(in: scope) }
            let values = sides.compactMap(\.value)
            return .init(
                value: values.count == sides.count ? .array(values) : nil, isLiteral: sides.allSatisfy(\.isLiteral))
        case .converted(let conversion, let operand):
            let side = operand.side(in: scope)
            return .init(value: side.value.flatMap(conversion.convert), isLiteral: side.isLiteral)
        }
    }

    /// The elements of a list to look in; nil if there is no list.
    func candidates(in scope: RuleScope) -> [RuleClause.Side]? {
        switch self {
        case .list(let operands): operands.map { $0.side(in: scope) }
        case .literal, .expansion, .converted, .unset:
            value(in: scope)?.elements?.map { .init(value: $0.isNull ? nil : $0) }
        }
    }
}

extension Expansion {
    /// - Parameter nullIsUnset: a null counts as no value.
    fileprivate func side(of found: RuleValue?, in scope: RuleScope, nullIsUnset: Bool) -> RuleClause.Side {
        let value = found.flatMap { nullIsUnset && $0.isNull ? nil : $0 }
        return switch self {
        case .constant: .init(value: value, isLiteral: true)
        case .partition: .init(value: value)
        case .user(let path) where path.first == "custom_data" && !scope.user.isCustomDataKnown: .init(value: value)
        case .user, .values, .environment: .init(value: value, isMissing: value == nil)
        }
    }
}

/// A change of type that a rule asks for.
enum RuleConversion: String, Sendable, CaseIterable {
    case stringToObjectID = "%stringToOid"
    case objectIDToString = "%oidToString"
    case stringToUUID = "%stringToUuid"
    case uuidToString = "%uuidToString"

    /// Nil for a value that cannot be converted.
    func convert(_ value: RuleValue) -> RuleValue? {
        switch (self, value) {
        case (.stringToObjectID, .string(let text)): RuleValue.objectID(hex: text)
        case (.objectIDToString, .objectID(let bytes)): .string(HexBytes(bytes).hex)
        case (.stringToUUID, .string(let text)): RuleValue.uuid(text: text)
        case (.uuidToString, .uuid(let bytes)): .string(RuleValue.uuidText(bytes))
        default: nil
        }
    }
}
