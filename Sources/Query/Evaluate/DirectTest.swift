import Changesets
import RealmState

/// A property of the class itself beside a constant of its own type: the common case, and one with rules of its own for
/// floating-point numbers (NaN equals nothing), strings (null is the least) and string operators (a null needle).
enum DirectTest {
    typealias Test = @Sendable (Value, EvaluationMeter?) -> Bool

    /// - Returns: takes what comes to more than looking at one value.
    static func make(_ comparison: Comparison, _ type: QueryType, _ constant: Constant) -> Test {
        let op = comparison.op
        let value = constant.comparable
        let general = ValueTest(
            op: op, ignoresCase: comparison.ignoresCase, comparesContents: comparison.hasCollectionConstant)
        switch (type, value) {
        case (.int, .int(let wanted)): return integers(op, wanted)
        case (.float, .float(let bits)): return floats(op, Double(Float(bitPattern: bits)))
        case (.double, .double(let bits)): return floats(op, Double(bitPattern: bits))
        case (.string, .string(let wanted)) where op == .equal || op == .member:
            if comparison.ignoresCase { break }
            return { value, meter in
                guard case .string(let found) = value, found.count == wanted.count else { return false }
                if let meter { meter.take(bytes: wanted.count) }
                return found == wanted
            }
        case (.string, _) where op.isOrder: return strings(op, value)
        case (.string, .null) where op.isString, (.binary, .null) where op.isString:
            // Binary CONTAINS[c] alone leaves null out.
            let isPicky = type == .binary && op == .contains && comparison.ignoresCase
            return { value, _ in op == .like ? value == .null : !isPicky || value != .null }
        case (.objectID, .objectID(let wanted)) where op == .equal || op == .member:
            return { found, _ in if case .objectID(let found) = found { found == wanted } else { false } }
        default: break
        }
        return { general.holds($0, value, $1) }
    }

    private static func integers(_ op: ComparisonOperator, _ wanted: Int64) -> Test {
        switch op {
        case .equal, .member: return { value, _ in if case .int(let found) = value { found == wanted } else { false } }
        case .notEqual: return { value, _ in if case .int(let found) = value { found != wanted } else { true } }
        case .less: return { value, _ in if case .int(let found) = value { found < wanted } else { false } }
        case .lessOrEqual: return { value, _ in if case .int(let found) = value { found <= wanted } else { false } }
        case .greater: return { value, _ in if case .int(let found) = value { found > wanted } else { false } }
        case .greaterOrEqual: return { value, _ in if case .int(let found) = value { found >= wanted } else { false } }
        case .beginsWith, .endsWith, .contains, .like: return { _, _ in false }
        }
    }

    private static func floats(_ op: ComparisonOperator, _ wanted: Double) -> Test {
        switch op {
        case .equal, .member: return { value, _ in Arithmetic.double(value).map { $0 == wanted } ?? false }
        case .notEqual: return { value, _ in Arithmetic.double(value).map { $0 != wanted } ?? true }
        case .less: return { value, _ in Arithmetic.double(value).map { $0 < wanted } ?? false }
        case .lessOrEqual: return { value, _ in Arithmetic.double(value).map { $0 <= wanted } ?? false }
        case .greater: return { value, _ in Arithmetic.double(value).map { $0 > wanted } ?? false }
        case .greaterOrEqual: return { value, _ in Arithmetic.double(value).map { $0 >= wanted } ?? false }
        case .beginsWith, .endsWith, .contains, .like: return { _, _ in false }
        }
    }

    private static func strings(_ op: ComparisonOperator, _ wanted: Value) -> Test {
        { found, meter in
            if let meter { meter.take(bytes: min(found.byteCount, wanted.byteCount)) }
            let order =
                found == .null ? (wanted == .null ? 0 : -1) : wanted == .null ? 1 : ValueOrder.compare(found, wanted)
            guard let order else { return false }
            return switch op {
            case .less: order < 0
            case .lessOrEqual: order <= 0
            case .greater: order > 0
            default: order >= 0
            }
        }
    }
}
