/// The steps that trying objects on closed conditions may still take, and has taken, in steps of about three nanoseconds. Where nothing is left,
/// what a condition says does not count.
package struct RuleSteps: Sendable {
    static let perComparison = 16
    static let perElement = 8
    /// Strings are compared and hashed byte by byte.
    static let bytesPerStep = 4

    /// The steps that are left; below 0 if more was taken than there was.
    package private(set) var left: Int

    package init(_ left: Int = .max) { self.left = left }

    package var isSpent: Bool { left <= 0 }

    mutating func take(_ steps: Int) { if left > 0 { left -= steps } }
}

extension RuleValue {
    /// What going over the value takes.
    var steps: Int {
        switch self {
        case .null, .bool, .number, .objectID, .uuid, .date: 1
        case .string(let text): 1 + text.utf8.count / RuleSteps.bytesPerStep
        case .binary(let bytes): 1 + bytes.count / RuleSteps.bytesPerStep
        case .array(let elements): elements.reduce(RuleSteps.perElement) { $0 + RuleSteps.perElement + $1.steps }
        case .object(let members):
            members.reduce(RuleSteps.perElement) { $0 + RuleSteps.perElement + $1.key.utf8.count + $1.value.steps }
        }
    }
}
