import SyncModel

/// One comparison of a condition: what is looked at, how, and what with.
struct RuleClause: Sendable {
    enum Subject: Sendable, Equatable {
        /// Of the object in question.
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
        /// Of a closed condition: an expansion that is unset.
        case unset
    }

    /// A clause's verdict, and what its two sides were; nil for what is unset.
    struct Judgement {
        var truth: Truth
        var subject: RuleValue?
        var operand: RuleValue?
    }

    var subject: Subject
    var comparison: Comparison
    var operand: Operand
    /// The clause as JSON, and where it stands in the document.
    var source: JSONValue
    var path: JSONPointer

    func judge(in scope: RuleScope) -> Judgement {
        let left = value(in: scope)
        let right = operand.value(in: scope)
        return Judgement(truth: verdict(left, right, in: scope), subject: left, operand: right)
    }

    /// A property that an object lacks is null, as in MongoDB; an expansion that is unset stays so, lest it match everything that
    /// has no value.
    private func value(in scope: RuleScope) -> RuleValue? {
        switch subject {
        case .property(let name): scope.property(name)
        case .expansion(let expansion): expansion.value(in: scope)
        }
    }

    func verdict(_ found: RuleValue?, _ operand: RuleValue?, in scope: RuleScope) -> Truth {
        if comparison == .exists {
            guard case .bool(let wanted) = operand else { return .unknown }
            return Truth((found != nil) == wanted)
        }
        var left = found
        if left == nil, case .property = subject { left = .null }
        guard let left else { return .unknown }
        switch comparison {
        case .equal: return equality(left, operand)
        case .notEqual: return !equality(left, operand)
        case .less: return order(left, operand) { $0.precedes($1) }
        case .greater: return order(left, operand) { $1.precedes($0) }
        case .lessOrEqual: return order(left, operand) { left, right in left == right ? true : left.precedes(right) }
        case .greaterOrEqual: return order(left, operand) { left, right in left == right ? true : right.precedes(left) }
        case .isIn: return some(of: left, in: scope)
        case .isNotIn: return !some(of: left, in: scope)
        case .holdsAll: return all(of: left, in: scope)
        case .exists: return .unknown
        }
    }

    private func equality(_ left: RuleValue, _ right: RuleValue?) -> Truth {
        right.map { Truth(left.isOrHolds($0)) } ?? .unknown
    }

    /// Values of two kinds are in no order: false. Of a list, one element that is in order is enough.
    private func order(
        _ left: RuleValue, _ right: RuleValue?, _ isInOrder: (RuleValue, RuleValue) -> Bool?
    ) -> Truth {
        guard let right else { return .unknown }
        return Truth(([left] + (left.elements ?? [])).contains { isInOrder($0, right) == true })
    }

    /// Whether the value is in the operand's list. Elements of the list that are unset may be it.
    private func some(of left: RuleValue, in scope: RuleScope) -> Truth {
        operand.candidates(in: scope)?.reduce(.false) { $0 || equality(left, $1) } ?? .unknown
    }

    private func all(of left: RuleValue, in scope: RuleScope) -> Truth {
        operand.candidates(in: scope)?.reduce(.true) { $0 && equality(left, $1) } ?? .unknown
    }
}

extension RuleClause.Operand {
    /// Nil if it is unset. So is a null that comes out of an expansion: read as one it would match everything that has no value.
    func value(in scope: RuleScope) -> RuleValue? {
        switch self {
        case .literal(let value): return value
        case .unset: return nil
        case .expansion(let expansion): return expansion.value(in: scope).flatMap { $0.isNull ? nil : $0 }
        case .list(let operands):
            let values = operands.map { $0.value(in: scope) }
            return values.contains { $0 == nil } ? nil : .array(values.compactMap(\.self))
        case .converted(let conversion, let operand): return operand.value(in: scope).flatMap(conversion.convert)
        }
    }

    /// The elements of a list to look in, nil for one that is unset; nil if there is no list.
    func candidates(in scope: RuleScope) -> [RuleValue?]? {
        switch self {
        case .list(let operands): operands.map { $0.value(in: scope) }
        case .literal, .expansion, .converted, .unset: value(in: scope)?.elements?.map { $0.isNull ? nil : $0 }
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
