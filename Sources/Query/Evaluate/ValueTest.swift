import Changesets
import RealmState

/// Whether an operator holds between two single values.
struct ValueTest: Sendable {
    var op: ComparisonOperator
    var ignoresCase: Bool
    /// Whether the values are sets of types, which are equal where they overlap.
    var areTypes = false

    func holds(_ left: Value, _ right: Value) -> Bool {
        if areTypes { return overlap(left, right) == (op != .notEqual) }
        switch op {
        case .equal, .member: return equal(left, right)
        case .notEqual: return !equal(left, right)
        case .less: return ValueOrder.compare(left, right).map { $0 < 0 } ?? false
        case .greater: return ValueOrder.compare(left, right).map { $0 > 0 } ?? false
        case .lessOrEqual:
            if left == .null { return right == .null }
            return ValueOrder.compare(left, right).map { $0 <= 0 } ?? false
        case .greaterOrEqual:
            if left == .null { return right == .null }
            return ValueOrder.compare(left, right).map { $0 >= 0 } ?? false
        case .contains, .beginsWith, .endsWith, .like: return text(left, right)
        }
    }

    private func overlap(_ left: Value, _ right: Value) -> Bool {
        guard case .int(let left) = left, case .int(let right) = right else { return false }
        return left & right != 0
    }

    private func equal(_ left: Value, _ right: Value) -> Bool {
        guard ignoresCase else { return ValueOrder.equal(left, right) }
        switch (left, right) {
        case (.string(let left), .string(let right)):
            return left.count == right.count && TextMatch.folded(left.bytes) == TextMatch.folded(right.bytes)
        case (.binary(let left), .binary(let right)):
            return left.count == right.count && TextMatch.folded(left) == TextMatch.folded(right)
        default: return ValueOrder.equal(left, right)
        }
    }

    private func text(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (_, .null):
            switch op {
            case .contains: left != .null
            case .like: left == .null
            default: false
            }
        case (.string(let text), .string(let needle)): match(text.bytes, needle.bytes)
        case (.binary(let text), .binary(let needle)): match(text, needle)
        default: false
        }
    }

    private func match(_ text: [UInt8], _ needle: [UInt8]) -> Bool {
        let text = ignoresCase ? TextMatch.folded(text) : text
        let needle = ignoresCase ? TextMatch.folded(needle) : needle
        switch op {
        case .contains: return TextMatch.contains(text, needle)
        case .beginsWith: return TextMatch.begins(text, with: needle)
        case .endsWith: return TextMatch.ends(text, with: needle)
        default: return TextMatch.like(text, needle)
        }
    }
}

/// Whether an operator holds between what two sides offer.
struct InstanceTest: Sendable {
    var test: ValueTest
    var left: Quantifier?
    var right: Quantifier?

    func holds(_ lefts: [Instance], _ rights: [Instance]) -> Bool {
        for left in lefts {
            for right in rights where holds(left, right) { return true }
        }
        return false
    }

    private func holds(_ left: Instance, _ right: Instance) -> Bool {
        switch (left, right) {
        case (.one(let left), .one(let right)) where self.left == nil && self.right == nil:
            return test.holds(left, right)
        case (.list(let left), .list(let right)) where self.left == nil && self.right == nil:
            // Two lists as wholes: pair by pair.
            guard left.count == right.count else { return test.op == .notEqual }
            return zip(left, right).allSatisfy { test.holds($0, $1) }
        default:
            return quantified(self.left, left) { left in quantified(self.right, right) { test.holds(left, $0) } }
        }
    }

    private func quantified(_ quantifier: Quantifier?, _ instance: Instance, _ holds: (Value) -> Bool) -> Bool {
        let values: [Value]
        switch instance {
        case .one(let value): values = [value]
        case .list(let list): values = list
        }
        switch quantifier {
        case nil, .any: return values.contains(where: holds)
        case .all: return values.allSatisfy(holds)
        case .some(.none): return !values.contains(where: holds)
        }
    }
}
