/// A condition as the generator makes it, to be written as text and to be interpreted.
indirect enum Predicate {
    case always(Bool)
    case all([Predicate])
    case any([Predicate])
    case not(Predicate)
    case comparison(Operand, Operator, Operand, ignoresCase: Bool = false)
    case between(Path, Scalar, Scalar)
}

/// A side of a comparison.
indirect enum Operand {
    case constant(Scalar)
    case list([Scalar], Quantifier? = nil)
    case path(Path)
    /// `path.@count`
    case count(Path)
    /// `scores.@max` and `subtasks.@max.priority`: of the elements of a list, or of a property of linked tasks.
    case aggregate([Hop], Function, Field)
    /// `SUBQUERY(subtasks, $x, ...).@count`
    case subquery(Predicate)
}

/// A way over links to a property or, without one, to the tasks themselves.
struct Path {
    var hops: [Hop] = []
    var field: Field?
    var quantifier: Quantifier?

    /// Whether it leads to several values.
    var isMulti: Bool { hops.contains(.subtasks) || field?.isList == true }
}

enum Hop: String {
    case parent
    case subtasks
}

enum Quantifier: String {
    case any = "ANY"
    case all = "ALL"
    case no = "NONE"
}

enum Function: String, CaseIterable {
    case min
    case max
    case sum
    case avg
}

enum Operator: String {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case member = "IN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"

    static let orders: [Operator] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
    static let texts: [Operator] = [.beginsWith, .endsWith, .contains, .like]
}
