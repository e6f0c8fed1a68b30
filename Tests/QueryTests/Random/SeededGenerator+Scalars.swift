import SeededRandom

extension SeededGenerator {
    mutating func pick<Element>(_ items: [Element]) -> Element { items[below(items.count)] }

    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// A value of a kind, out of so few that queries often meet it; sometimes an integer that a double would round.
    mutating func scalar(_ kind: Kind, isSmall: Bool = false) -> Scalar {
        switch kind {
        case .bool: return .bool(chance(50))
        case .int: return .int(!isSmall && chance(10) ? 9_007_199_254_740_993 : Int64(below(7) - 2))
        case .double, .float:
            return .real(!isSmall && chance(10) ? 9_007_199_254_740_992 : Double(below(13) - 4) / 4)
        case .decimal: return .real(Double(below(13) - 4) / 4)
        case .string:
            return .string(pick(["", "a", "A", "ab", "Ab", "b", "é", "É", "ÿ", "aÉb", "red", "a b", "Ж", "𝄞"]))
        case .date: return .date(seconds: Int64(below(3)), nanoseconds: Int32(below(3)))
        }
    }

    /// A pattern in which stars never stand side by side: such have a rule of their own.
    mutating func pattern() -> String {
        var pattern = ""
        for _ in 0..<(1 + below(4)) {
            pattern += pick(pattern.last == "*" ? ["?", "a", "b", "É"] : ["*", "?", "a", "b", "A", "é"])
        }
        return pattern
    }
}
