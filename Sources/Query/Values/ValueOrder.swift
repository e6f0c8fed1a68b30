import Changesets
package import RealmState

/// Equality and order of two values, whatever their types: numbers by what they amount to, all else by bytes.
package enum ValueOrder {
    /// Negative, zero or positive; nil for null and for values of types that cannot be compared.
    static func compare(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.int(let left), .int(let right)): order(left, right)
        case (.string(let left), .string(let right)): left.compared(to: right)
        case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
        case (.objectID(let left), .objectID(let right)): order(left, right)
        case (.uuid(let left), .uuid(let right)): order(left, right)
        case (.timestamp(let left), .timestamp(let right)): order(left, right)
        case (.binary(let left), .binary(let right)): bytes(left, right)
        case (.link(let left), .link(let right)): left == right ? 0 : order(left, right)
        // What collections within mixed values hold is not looked at.
        case (.list, .list), (.dictionary, .dictionary): 0
        case (.int, _), (.float, _), (.double, _), (.decimal, _): numbers(left, right)
        default: nil
        }
    }

    static func equal(_ left: Value, _ right: Value) -> Bool {
        if left == .null || right == .null { return left == right }
        return compare(left, right) == 0
    }

    /// The order of SORT, @min and @max, which puts types one after another.
    package static func total(_ left: Value, _ right: Value) -> Int {
        compare(left, right) ?? order(rank(left), rank(right))
    }

    private static func rank(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .binary: 4
        case .timestamp: 5
        case .objectID: 6
        case .uuid: 7
        case .link, .embedded: 8
        case .list, .set: 9
        case .dictionary: 10
        }
    }

    @inline(__always)
    private static func order<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    private static func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let count = min(left.count, right.count)
        for position in 0..<count where left[position] != right[position] {
            return left[position] < right[position] ? -1 : 1
        }
        return order(left.count, right.count)
    }

    /// Compares as numbers two values that are not both integers.
    private static func numbers(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.decimal(let value), _): Arithmetic.decimal(right).map { DecimalNumber(value).compare($0) }
        case (_, .decimal(let value)): Arithmetic.decimal(left).map { $0.compare(DecimalNumber(value)) }
        case (.int(let left), _): Arithmetic.double(right).map { NumberOrder.compare(left, $0) }
        case (_, .int(let right)): Arithmetic.double(left).map { -NumberOrder.compare(right, $0) }
        default:
            if let left = Arithmetic.double(left), let right = Arithmetic.double(right) {
                NumberOrder.compare(left, right)
            } else {
                nil
            }
        }
    }
}
