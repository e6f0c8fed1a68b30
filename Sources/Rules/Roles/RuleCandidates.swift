/// The values that a property is looked for in, or that it must hold, as a role has them for one user: few are compared, many are looked up.
final class RuleCandidates: Sendable {
    private let values: [RuleValue]
    /// Nil: they are few.
    private let set: Set<RuleValue>?
    private let hasUnset: Bool
    private let isEmpty: Bool

    private static let few = 8

    /// - Parameter candidates: nil is unset.
    init(_ candidates: [RuleValue?]) {
        values = candidates.compactMap(\.self)
        set = values.count > Self.few ? Set(values) : nil
        hasUnset = values.count < candidates.count
        isEmpty = candidates.isEmpty
    }

    /// Whether the value, or an element of it, is among them. Those that are unset may be it.
    func some(of value: RuleValue, _ steps: inout RuleSteps) -> Truth {
        let isFound: Bool
        if let set {
            steps.take(value.steps)
            isFound = set.contains(value) || value.elements?.contains(where: set.contains) == true
        } else {
            steps.take(values.count * value.steps)
            isFound = values.contains { value.isOrHolds($0) }
        }
        return isFound ? .true : hasUnset ? .unknown : .false
    }

    /// Whether the value is, or holds, each of them. Nothing holds all of an empty list, as in MongoDB.
    func all(of value: RuleValue, _ steps: inout RuleSteps) -> Truth {
        if isEmpty { return .false }
        let holdsAll: Bool
        if let elements = value.elements, values.count > Self.few, elements.count > Self.few {
            steps.take(2 * value.steps + values.reduce(0) { $0 + $1.steps })
            let held = Set(elements)
            holdsAll = values.allSatisfy { held.contains($0) || value == $0 }
        } else {
            steps.take(values.count * value.steps)
            holdsAll = values.allSatisfy { value.isOrHolds($0) }
        }
        if !holdsAll { return .false }
        return hasUnset ? .unknown : .true
    }
}
