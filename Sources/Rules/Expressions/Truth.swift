/// A verdict of three-valued logic (Kleene): what rests on something unset is unknown, and an unknown in the end counts as false.
package enum Truth: String, Sendable, Codable, CaseIterable {
    case `false`, unknown, `true`

    package init(_ value: Bool) { self = value ? .true : .false }

    private var rank: Int {
        switch self {
        case .false: 0
        case .unknown: 1
        case .true: 2
        }
    }

    package static func && (left: Truth, right: @autoclosure () -> Truth) -> Truth {
        if left == .false { return .false }
        let right = right()
        return left.rank < right.rank ? left : right
    }

    package static func || (left: Truth, right: @autoclosure () -> Truth) -> Truth {
        if left == .true { return .true }
        let right = right()
        return left.rank > right.rank ? left : right
    }

    package static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .false: .true
        case .unknown: .unknown
        case .true: .false
        }
    }
}
