import Changesets
import RealmState

/// Whether an operator holds between two single values.
struct ValueTest: Sendable {
    var op: ComparisonOperator
    var ignoresCase: Bool
    var ignoresMarks = false
    /// Whether the values are sets of types, which are equal where they overlap.
    var areTypes = false
    /// Whether lists and dictionaries within mixed values are equal only if they hold the same. A list of one property equals any of another, as in stock clients.
    var comparesContents = false

    func holds(_ left: Value, _ right: Value, _ meter: EvaluationMeter? = nil) -> Bool {
        if areTypes { return overlap(left, right) == (op != .notEqual) }
        switch op {
        case .equal, .member: return equal(left, right, meter)
        case .notEqual: return !equal(left, right, meter)
        case .less: return order(left, right, meter).map { $0 < 0 } ?? false
        case .greater: return order(left, right, meter).map { $0 > 0 } ?? false
        case .lessOrEqual:
            if left == .null { return right == .null }
            return order(left, right, meter).map { $0 <= 0 } ?? false
        case .greaterOrEqual:
            if left == .null { return right == .null }
            return order(left, right, meter).map { $0 >= 0 } ?? false
        case .contains, .beginsWith, .endsWith, .like: return text(left, right, meter)
        }
    }

    private func overlap(_ left: Value, _ right: Value) -> Bool {
        guard case .int(let left) = left, case .int(let right) = right else { return false }
        return left & right != 0
    }

    /// The text as it is compared without diacritical marks.
    private func folded(_ text: ByteString) -> [UInt8] { MarkFolding.folded(text, ignoresCase: ignoresCase) }

    private func order(_ left: Value, _ right: Value, _ meter: EvaluationMeter?) -> Int? {
        if let meter { meter.take(bytes: min(left.byteCount, right.byteCount)) }
        return ValueOrder.compare(left, right)
    }

    private func equal(_ left: Value, _ right: Value, _ meter: EvaluationMeter?) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)) where ignoresMarks:
            return folded(left) == folded(right)
        case (.string(let left), .string(let right)) where ignoresCase:
            return TextMatch.equal(left, right, meter)
        case (.binary(let left), .binary(let right)) where ignoresCase: return TextMatch.equal(left, right, meter)
        case (.list(let left), .list(let right)) where comparesContents:
            return left.count == right.count
                && zip(left, right).allSatisfy { (meter?.goOn(elements: 1) ?? true) && equal($0, $1, meter) }
        case (.dictionary(let left), .dictionary(let right)) where comparesContents:
            return left.count == right.count
                && left.allSatisfy { key, value in
                    (meter?.goOn(elements: 1) ?? true) && right[key].map { equal(value, $0, meter) } ?? false
                }
        default:
            if let meter { meter.take(bytes: min(left.byteCount, right.byteCount)) }
            return ValueOrder.equal(left, right)
        }
    }

    private func text(_ left: Value, _ right: Value, _ meter: EvaluationMeter?) -> Bool {
        switch (left, right) {
        case (_, .null):
            switch op {
            case .contains: left != .null
            case .like: left == .null
            default: false
            }
        case (.string(let text), .string(let needle)) where ignoresMarks:
            TextMatch.holds(op, folded(text), folded(needle), ignoresCase: false, meter)
        case (.string(let text), .string(let needle)):
            TextMatch.holds(op, text, needle, ignoresCase: ignoresCase, meter)
        case (.binary(let text), .binary(let needle)):
            TextMatch.holds(op, text, needle, ignoresCase: ignoresCase, meter)
        default: false
        }
    }
}

extension Value {
    /// What comparing or hashing the value may have to go over.
    var byteCount: Int {
        switch self {
        case .string(let text): text.count
        case .binary(let bytes): bytes.count
        default: 0
        }
    }
}

/// Whether an operator holds between what two sides offer.
struct InstanceTest: Sendable {
    var test: ValueTest
    var left: Quantifier?
    var right: Quantifier?
    /// What the right side is whatever the object, if one look tells whether a value is among it.
    var members: Set<Value>?

    func holds(_ lefts: [Instance], _ rights: [Instance], _ meter: EvaluationMeter?) -> Bool {
        for left in lefts {
            if let members, !isPaired(left) {
                if isAny(left, of: members, meter) { return true }
                continue
            }
            for right in rights {
                if let meter, meter.isSpent { return false }
                if holds(left, right, meter) { return true }
            }
        }
        return false
    }

    /// Whether two lists are compared pair by pair.
    private func isPaired(_ instance: Instance) -> Bool {
        if case .list = instance { left == nil && right == nil } else { false }
    }

    private func isAny(_ instance: Instance, of members: Set<Value>, _ meter: EvaluationMeter?) -> Bool {
        quantified(left, instance, meter) { value in
            if let meter { meter.take(bytes: value.byteCount) }
            return members.contains(value)
        }
    }

    private func holds(_ left: Instance, _ right: Instance, _ meter: EvaluationMeter?) -> Bool {
        switch (left, right) {
        case (.one(let left), .one(let right)) where self.left == nil && self.right == nil:
            meter?.take(EvaluationMeter.stepsPerElement)
            return test.holds(left, right, meter)
        case (.list(let left), .list(let right)) where self.left == nil && self.right == nil:
            // Two lists as wholes: pair by pair.
            guard left.count == right.count else { return test.op == .notEqual }
            return zip(left, right).allSatisfy {
                if let meter, !meter.goOn(elements: 1) { return false }
                return test.holds($0, $1, meter)
            }
        default:
            return quantified(self.left, left, meter) { left in
                quantified(self.right, right, meter) { test.holds(left, $0, meter) }
            }
        }
    }

    private func quantified(
        _ quantifier: Quantifier?, _ instance: Instance, _ meter: EvaluationMeter?, _ holds: (Value) -> Bool
    ) -> Bool {
        let values: [Value]
        switch instance {
        case .one(let value): values = [value]
        case .list(let list): values = list
        }
        // A trial that has too little left to go on gets the answer that ends it.
        func goesOn() -> Bool { meter?.goOn(elements: 1) ?? true }
        switch quantifier {
        case nil, .any: return values.contains { !goesOn() || holds($0) }
        case .all: return values.allSatisfy { goesOn() && holds($0) }
        case .some(.none): return !values.contains { !goesOn() || holds($0) }
        }
    }
}
