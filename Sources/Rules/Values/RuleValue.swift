/// A value as rules compare it: of an object's property, of a user's data, of a partition, or written in a rule.
package enum RuleValue: Sendable {
    case null
    case bool(Bool)
    case number(RuleNumber)
    case string(String)
    case binary([UInt8])
    /// Twelve bytes.
    case objectID([UInt8])
    /// Sixteen bytes.
    case uuid([UInt8])
    /// Milliseconds of Unix time.
    case date(Int64)
    case array([RuleValue])
    case object([String: RuleValue])

    var isNull: Bool { if case .null = self { true } else { false } }
    var elements: [RuleValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// Whether the left value comes before the right one; nil for values of two kinds, and for those that have no order.
    func precedes(_ other: RuleValue) -> Bool? {
        switch (self, other) {
        case (.number(let left), .number(let right)): left < right
        case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.objectID(let left), .objectID(let right)), (.uuid(let left), .uuid(let right)):
            left.lexicographicallyPrecedes(right)
        case (.date(let left), .date(let right)): left < right
        case (.bool(let left), .bool(let right)): !left && right
        default: nil
        }
    }

    /// The value, or any of its elements if it is a list, equals the other.
    func isOrHolds(_ other: RuleValue) -> Bool { self == other || elements?.contains(other) == true }
}

extension RuleValue: Equatable {
    /// Values of two kinds are never equal. Strings are compared by their bytes: two that only Unicode takes for the same name two
    /// partitions.
    package static func == (left: RuleValue, right: RuleValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.binary(let left), .binary(let right)), (.objectID(let left), .objectID(let right)),
            (.uuid(let left), .uuid(let right)):
            left == right
        case (.date(let left), .date(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { key, value in right[key] == value && right.keys.contains(key) }
        default: false
        }
    }
}
