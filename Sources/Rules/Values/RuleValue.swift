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

extension RuleValue: Hashable {
    /// Values of two kinds are never equal. Strings are compared by their bytes: two that only Unicode takes for the same name two
    /// partitions.
    package static func == (left: RuleValue, right: RuleValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasBytes(of: right)
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

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let value): hasher.combine(value)
        case .string(let text):
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .binary(let bytes), .objectID(let bytes), .uuid(let bytes): hasher.combine(bytes)
        case .date(let value): hasher.combine(value)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members.count)
        }
    }
}

extension String {
    fileprivate func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isEqual = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { left.elementsEqual($0) }
        }
        return (isEqual ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
