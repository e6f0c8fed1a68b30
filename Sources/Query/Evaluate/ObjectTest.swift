import Changesets
import RealmState

/// A condition that looks at values of the object itself and compares each with a constant: most subscriptions are such. It is tried on
/// objects as stores have them, without anything that other conditions need to find their way over links.
enum ObjectTest {
    typealias Test = @Sendable (StoredObject, EvaluationMeter?) -> Bool

    /// Nil for a condition that is more than that.
    static func make(_ condition: Condition) -> Test? {
        switch condition {
        case .constant(let value): return { _, _ in value }
        case .all(let parts):
            guard let tests = make(parts) else { return nil }
            if tests.count == 2 {
                let (first, second) = (tests[0], tests[1])
                return { first($0, $1) && second($0, $1) }
            }
            return { object, meter in
                for test in tests {
                    if let meter, meter.isSpent { return false }
                    if !test(object, meter) { return false }
                }
                return true
            }
        case .any(let parts):
            // A long chain over one property is one look into a set.
            guard parts.count <= 4, let tests = make(parts) else { return nil }
            return { object, meter in
                for test in tests {
                    if let meter, meter.isSpent { return false }
                    if test(object, meter) { return true }
                }
                return false
            }
        case .not(let part):
            guard let test = make(part) else { return nil }
            return { !test($0, $1) }
        case .bounds(let low, let high):
            guard let first = make(low), let second = make(high) else { return nil }
            return { first($0, $1) && second($0, $1) }
        case .comparison(let comparison): return make(comparison)
        case .member(let membership):
            guard let property = membership.path.ownProperty, case .column(let column) = property.slot else {
                return nil
            }
            return make(membership, property, column)
        case .between, .fullText, .geoWithin: return nil
        }
    }

    private static func make(_ parts: [Condition]) -> [Test]? {
        var tests: [Test] = []
        for part in parts {
            guard let test = make(part) else { return nil }
            tests.append(test)
        }
        return tests
    }

    private static func make(_ comparison: Comparison) -> Test? {
        guard comparison.isDirect, !comparison.ignoresCase, case .path(let path) = comparison.left,
            let property = path.ownProperty, case .column(let column) = property.slot,
            let constant = comparison.right.singleConstant
        else { return nil }
        let holds = DirectTest.make(comparison, property.type, constant)
        let isMissingHeld = holds(property.defaultValue, nil)
        switch (property.type, constant.value, comparison.op) {
        case (.int, .int(let wanted)?, let op):
            guard let range = range(op, wanted) else { break }
            let isNegated = op == .notEqual
            return { object, meter in
                if let meter { meter.take(EvaluationMeter.stepsPerTest) }
                return switch object.peek(column) {
                case .int(let value): range.contains(value) != isNegated
                case .missing: isMissingHeld
                case .bool, .null, .other: isNegated
                }
            }
        case (.bool, .bool(let wanted)?, .equal):
            return { object, meter in
                if let meter { meter.take(EvaluationMeter.stepsPerTest) }
                return switch object.peek(column) {
                case .bool(let value): value == wanted
                case .missing: isMissingHeld
                case .int, .null, .other: false
                }
            }
        case (.string, .string(let wanted)?, .equal), (.string, .string(let wanted)?, .member):
            let steps = EvaluationMeter.stepsPerTest + wanted.count / EvaluationMeter.bytesPerStep
            return { object, meter in
                if let meter { meter.take(steps) }
                return object.isString(column, wanted) ?? isMissingHeld
            }
        default: break
        }
        return { object, meter in
            if let meter { meter.take(EvaluationMeter.stepsPerTest) }
            guard let value = object[column] else { return isMissingHeld }
            return holds(value, meter)
        }
    }

    /// Empty ranges have no form: nil.
    private static func range(_ op: ComparisonOperator, _ wanted: Int64) -> ClosedRange<Int64>? {
        switch op {
        case .equal, .member, .notEqual: wanted...wanted
        case .less: wanted == .min ? nil : .min...(wanted - 1)
        case .lessOrEqual: .min...wanted
        case .greater: wanted == .max ? nil : (wanted + 1)...(.max)
        case .greaterOrEqual: wanted...(.max)
        case .beginsWith, .endsWith, .contains, .like: nil
        }
    }

    private static func make(_ membership: Membership, _ property: QueryProperty, _ column: ColumnID) -> Test? {
        guard membership.isExact else { return nil }
        let members = membership.members
        let isMissingHeld = members.contains(property.defaultValue, nil)
        // Few strings are compared faster than hashed.
        let texts = (members.count > 4 ? [] : members.values).compactMap {
            if case .string(let text) = $0 { text } else { nil }
        }
        if texts.count == members.count {
            let bytes = texts.reduce(0) { $0 + $1.count }
            let steps = EvaluationMeter.stepsPerTest + bytes / EvaluationMeter.bytesPerStep
            return { object, meter in
                if let meter { meter.take(steps) }
                for text in texts {
                    guard let isEqual = object.isString(column, text) else { return isMissingHeld }
                    if isEqual { return true }
                }
                return false
            }
        }
        return { object, meter in
            if let meter { meter.take(EvaluationMeter.stepsPerTest) }
            guard let value = object[column] else { return isMissingHeld }
            return members.contains(value, meter)
        }
    }
}
