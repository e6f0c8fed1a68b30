extension Scalar {
    /// Whether an operator holds between two values, by the general rules.
    func compared(_ op: Operator, _ other: Scalar, ignoresCase: Bool = false) -> Bool {
        switch op {
        case .equal, .member: equals(other, ignoresCase)
        case .notEqual: !equals(other, ignoresCase)
        case .less: order(other).map { $0 < 0 } ?? false
        case .greater: order(other).map { $0 > 0 } ?? false
        case .lessOrEqual: order(other).map { $0 <= 0 } ?? (isNull && other.isNull)
        case .greaterOrEqual: order(other).map { $0 >= 0 } ?? (isNull && other.isNull)
        case .beginsWith, .endsWith, .contains, .like: matches(op, other, ignoresCase)
        }
    }

    /// The same for a property of the task itself and a constant, where other rules hold than in general; nil where none do.
    func directly(_ op: Operator, _ constant: Scalar, _ kind: Kind, ignoresCase: Bool) -> Bool? {
        switch (kind, constant) {
        case (.double, .real(let wanted)), (.float, .real(let wanted)):
            // As processors compare: NaN equals nothing, not even itself.
            guard case .real(let value) = self else { return op == .notEqual }
            switch op {
            case .equal: return value == wanted
            case .notEqual: return value != wanted
            case .less: return value < wanted
            case .lessOrEqual: return value <= wanted
            case .greater: return value > wanted
            default: return value >= wanted
            }
        case (.string, .null) where Operator.texts.contains(op): return op != .like || isNull
        case (.string, _) where Operator.orders.contains(op):
            // Null is the least string.
            let order = order(constant) ?? (constant.isNull ? 1 : 0) - (isNull ? 1 : 0)
            return Scalar.int(Int64(order)).compared(op, .int(0))
        default: return nil
        }
    }

    /// Whether the value counts in a list beside a property: it has to be of the property's type.
    func isUsable(for field: Field) -> Bool {
        switch (field.kind, self) {
        case (_, .null): field.isOptional
        case (.int, .real(let value)): value == value.rounded()
        case (.decimal, .int): true
        case (.double, .int), (.float, .int): false
        default: true
        }
    }

    /// Whether a property with this value equals an element of a list beside it.
    func isMember(_ element: Scalar) -> Bool {
        if case .real(let element) = element, element.isNaN { return false }
        return equals(element, false)
    }

    var isNull: Bool { if case .null = self { true } else { false } }

    private func equals(_ other: Scalar, _ ignoresCase: Bool) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.link(let key), .link(let other)): key == other
        case (.string(let text), .string(let other)) where ignoresCase: text.folded == other.folded
        default: order(other) == 0
        }
    }

    /// Negative, zero or positive; nil for values that have no order.
    func order(_ other: Scalar) -> Int? {
        switch (self, other) {
        case (.bool(let value), .bool(let other)): Self.order(value ? 1 : 0, other ? 1 : 0)
        case (.int(let value), .int(let other)): Self.order(value, other)
        case (.real(let value), .real(let other)):
            value.isNaN || other.isNaN ? Self.order(value.isNaN ? 0 : 1, other.isNaN ? 0 : 1) : Self.order(value, other)
        case (.int(let value), .real(let other)): Self.order(value, other)
        case (.real, .int): other.order(self).map { -$0 }
        case (.string(let text), .string(let other)):
            text.utf8.elementsEqual(other.utf8) ? 0 : text.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
        case (.date(let seconds, let nanoseconds), .date(let otherSeconds, let otherNanoseconds)):
            seconds == otherSeconds
                ? Self.order(nanoseconds, otherNanoseconds) : Self.order(seconds, otherSeconds)
        default: nil
        }
    }

    /// Compares without loss, though a double holds not every whole number: first the whole parts, then what is left.
    private static func order(_ left: Int64, _ right: Double) -> Int {
        if right.isNaN { return 1 }
        let whole = right.rounded(.down)
        let order = order(Int128(left), Int128(whole))
        return order == 0 && right > whole ? -1 : order
    }

    private static func order<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left < right ? -1 : left == right ? 0 : 1
    }

    private func matches(_ op: Operator, _ other: Scalar, _ ignoresCase: Bool) -> Bool {
        if other.isNull { return op == .contains ? !isNull : op == .like && isNull }
        guard case .string(let text) = self, case .string(let needle) = other else { return false }
        let (characters, wanted) =
            ignoresCase ? (text.folded, needle.folded) : (Array(text.unicodeScalars), Array(needle.unicodeScalars))
        switch op {
        case .beginsWith: return characters.starts(with: wanted)
        case .endsWith: return characters.reversed().starts(with: wanted.reversed())
        case .like: return Self.isLike(characters[...], wanted[...])
        default: return characters.indices.contains { characters[$0...].starts(with: wanted) } || wanted.isEmpty
        }
    }

    private static func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        if first == "*" { return (0...text.count).contains { isLike(text.dropFirst($0), rest) } }
        return (first == "?" ? !text.isEmpty : text.first == first) && isLike(text.dropFirst(), rest)
    }
}

extension String {
    /// The characters with the capital letters of ASCII and Latin-1 made small, and no others.
    fileprivate var folded: [Unicode.Scalar] {
        unicodeScalars.map { scalar in
            let isCapital = ("A"..."Z").contains(scalar) || (("À"..."Þ").contains(scalar) && scalar != "×")
            return isCapital ? Unicode.Scalar(scalar.value + 32) ?? scalar : scalar
        }
    }
}

extension Function {
    /// The value that the function has for some values; nulls and NaN count for nothing.
    func applied(to values: [Scalar], _ kind: Kind) -> Scalar {
        let values = values.filter { if case .real(let value) = $0 { !value.isNaN } else { !$0.isNull } }
        let numbers = values.compactMap { value -> Double? in
            switch value {
            case .int(let value): Double(value)
            case .real(let value): value
            default: nil
            }
        }
        switch self {
        case .min: return values.min { $0.compared(.less, $1) } ?? .null
        case .max: return values.max { $0.compared(.less, $1) } ?? .null
        case .avg: return values.isEmpty ? .null : .real(numbers.reduce(0, +) / Double(numbers.count))
        case .sum:
            guard kind == .int else { return .real(numbers.reduce(0, +)) }
            return .int(values.reduce(0) { if case .int(let value) = $1 { $0 &+ value } else { $0 } })
        }
    }
}
