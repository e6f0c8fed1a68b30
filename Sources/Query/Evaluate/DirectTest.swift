import Changesets
import RealmState

/// A property of the class itself beside a constant of its own type: the common case, and one with rules of its own for
/// floating-point numbers (NaN equals nothing), strings (null is the least) and string operators (a null needle).
enum DirectTest {
    static func make(
        _ comparison: Comparison, _ type: QueryType, _ constant: Constant
    ) -> @Sendable (Value) -> Bool {
        let op = comparison.op
        let value = constant.comparable
        let general = ValueTest(op: op, ignoresCase: comparison.ignoresCase)
        switch (type, value) {
        case (.int, .int(let wanted)): return integers(op, wanted)
        case (.float, .float(let bits)): return floats(op, Double(Float(bitPattern: bits)))
        case (.double, .double(let bits)): return floats(op, Double(bitPattern: bits))
        case (.string, .string(let wanted)) where op == .equal || op == .member:
            if comparison.ignoresCase { break }
            return { if case .string(let found) = $0 { found.bytes == wanted.bytes } else { false } }
        case (.string, _) where op.isOrder: return strings(op, value)
        case (.string, .null) where op.isString, (.binary, .null) where op.isString:
            // Binary CONTAINS[c] alone leaves null out.
            let isPicky = type == .binary && op == .contains && comparison.ignoresCase
            return { op == .like ? $0 == .null : !isPicky || $0 != .null }
        case (.objectID, .objectID(let wanted)) where op == .equal || op == .member:
            return { if case .objectID(let found) = $0 { found == wanted } else { false } }
        case (_, .string(let needle)) where op.isString && comparison.ignoresCase:
            let folded = Value.string(ByteString(TextMatch.folded(needle.bytes)))
            return { general.holds($0, folded) }
        default: break
        }
        return { general.holds($0, value) }
    }

    private static func integers(_ op: ComparisonOperator, _ wanted: Int64) -> @Sendable (Value) -> Bool {
        switch op {
        case .equal, .member: return { if case .int(let found) = $0 { found == wanted } else { false } }
        case .notEqual: return { if case .int(let found) = $0 { found != wanted } else { true } }
        case .less: return { if case .int(let found) = $0 { found < wanted } else { false } }
        case .lessOrEqual: return { if case .int(let found) = $0 { found <= wanted } else { false } }
        case .greater: return { if case .int(let found) = $0 { found > wanted } else { false } }
        case .greaterOrEqual: return { if case .int(let found) = $0 { found >= wanted } else { false } }
        case .beginsWith, .endsWith, .contains, .like: return { _ in false }
        }
    }

    private static func floats(_ op: ComparisonOperator, _ wanted: Double) -> @Sendable (Value) -> Bool {
        switch op {
        case .equal, .member: return { Arithmetic.double($0).map { $0 == wanted } ?? false }
        case .notEqual: return { Arithmetic.double($0).map { $0 != wanted } ?? true }
        case .less: return { Arithmetic.double($0).map { $0 < wanted } ?? false }
        case .lessOrEqual: return { Arithmetic.double($0).map { $0 <= wanted } ?? false }
        case .greater: return { Arithmetic.double($0).map { $0 > wanted } ?? false }
        case .greaterOrEqual: return { Arithmetic.double($0).map { $0 >= wanted } ?? false }
        case .beginsWith, .endsWith, .contains, .like: return { _ in false }
        }
    }

    private static func strings(_ op: ComparisonOperator, _ wanted: Value) -> @Sendable (Value) -> Bool {
        { found in
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
