/// How two sides are compared.
package enum ComparisonOperator: String, Sendable, Hashable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// Equality with a right side of several values.
    case member = "IN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"

    var isOrder: Bool {
        switch self {
        case .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    var isString: Bool {
        switch self {
        case .beginsWith, .endsWith, .contains, .like: true
        default: false
        }
    }
}

/// How many of a side's values a comparison has to hold for.
package enum Quantifier: String, Sendable, Hashable {
    case any = "ANY"
    case all = "ALL"
    case none = "NONE"
}

package enum AggregateFunction: String, Sendable, Hashable {
    case min = "@min"
    case max = "@max"
    case sum = "@sum"
    case average = "@avg"
}

package enum ArithmeticOperator: String, Sendable, Hashable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
}
