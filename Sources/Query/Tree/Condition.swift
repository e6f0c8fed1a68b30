package import Changesets
package import RealmState

/// A condition that has been checked against a schema.
package indirect enum Condition: Sendable, Hashable {
    case constant(Bool)
    /// The parts in the order of the text; each associates with all before it.
    case all([Condition])
    case any([Condition])
    case not(Condition)
    case comparison(Comparison)
    /// A property's membership in a list of constants of its own type.
    case member(Membership)
    /// A lower and an upper bound, which stay together.
    case bounds(Comparison, Comparison)
    /// Both bounds included.
    case between(QueryPath, Constant, Constant)
    case fullText(QueryPath, FullTextPattern, text: ByteString)
    case geoWithin(QueryPath, GeoProperties, GeoRegion)
}

/// Where an embedded object keeps a point.
package struct GeoProperties: Sendable, Hashable {
    package var type: QueryProperty
    package var coordinates: QueryProperty
}

package struct Comparison: Sendable, Hashable {
    package var op: ComparisonOperator
    package var ignoresCase: Bool
    package var left: Side
    package var right: Side
    /// Whether a property of the class itself meets one constant of its own type, where some rules differ.
    package var isDirect: Bool
    /// Whether texts are compared without diacritical marks.
    package var ignoresMarks = false

    /// Whether a side is a list or dictionary as a whole, or a list of such.
    var hasCollectionConstant: Bool { left.hasCollectionConstant || right.hasCollectionConstant }

    /// Whether texts are compared byte by byte.
    var isExact: Bool { !ignoresCase && !ignoresMarks }
}

extension Comparison {
    /// Whether the sides meet directly: a property of the class itself and one constant of its own type.
    static func isDirect(_ left: Side, _ right: Side, _ op: ComparisonOperator) -> Bool {
        guard case .path(let path) = left, let property = path.ownProperty, !property.isCollection,
            let constant = right.singleConstant
        else { return false }
        if op.isString, constant.type != .string, constant.type != .binary { return false }
        if case .list = right { return property.type == .mixed }
        return property.type == constant.type || property.type == .mixed
    }

    /// `links == {a, b}` on links of the class itself: whether any of them is among the objects.
    var isLinkInList: Bool {
        guard op == .equal, case .path(let path) = left, path.hops.count == 1, case .objects = path.end,
            path.suffix == .none, case .list = right
        else { return false }
        return true
    }
}

package struct Membership: Sendable, Hashable {
    package var path: QueryPath
    let members: MemberSet

    /// - Parameter values: those of the property's own type, in the order of the text; and null, if the property may be null. None: nothing
    ///   is selected.
    package init(path: QueryPath, values: [Value]) {
        self.path = path
        members = MemberSet(values)
    }

    package var values: [Value] { members.values }
}

/// One side of a comparison.
package indirect enum Side: Sendable, Hashable {
    case constant(Constant)
    case list(ConstantList)
    case path(QueryPath)
    case aggregate(QueryPath, AggregateFunction, field: QueryProperty?)
    case subquery(Subquery)
    case operation(ArithmeticOperator, Side, Side, type: QueryType)
}

package struct Constant: Sendable, Hashable {
    package var content: ConstantContent
    package var type: QueryType

    init(_ value: Value, _ type: QueryType) {
        content = .value(value)
        self.type = type
    }

    init(_ types: TypeNames) {
        content = .types(types)
        type = .typeName
    }

    var value: Value? { if case .value(let value) = content { value } else { nil } }
    var isNull: Bool { value == .null }
    /// Whether this is a list or dictionary as a whole, which only predicates have.
    var isCollection: Bool {
        switch value {
        case .list, .dictionary: true
        default: false
        }
    }
}

package enum ConstantContent: Sendable, Hashable {
    case value(Value)
    case types(TypeNames)
}

package struct ConstantList: Sendable, Hashable {
    package var elements: [Constant]
    package var quantifier: Quantifier?
    package var type: QueryType
}

package struct Subquery: Sendable, Hashable {
    package var path: QueryPath
    package var condition: Condition
}

extension Side {
    /// What a constant on the other side is taken for.
    var type: QueryType {
        switch self {
        case .constant(let constant): constant.type
        case .list(let list): list.type
        case .path(let path): path.type
        case .aggregate(let path, let function, let field): Self.type(of: function, path, field)
        case .subquery: .int
        case .operation(_, _, _, let type): type
        }
    }

    private static func type(of function: AggregateFunction, _ path: QueryPath, _ field: QueryProperty?) -> QueryType {
        guard let field else {
            // The type of a dictionary's elements counts for the dictionary, too.
            if case .property(let property, _) = path.end { return property.type }
            return path.type
        }
        switch (function, field.type) {
        case (.min, _), (.max, _), (.sum, .int): return field.type
        case (_, .decimal), (_, .mixed): return .decimal
        default: return .double
        }
    }

    var quantifier: Quantifier? {
        switch self {
        case .constant, .aggregate, .subquery: nil
        case .list(let list): list.quantifier
        case .path(let path): path.suffix == .count ? nil : path.quantifier
        case .operation(_, let left, let right, _): left.quantifier ?? right.quantifier
        }
    }

    var isConstant: Bool {
        switch self {
        case .constant, .list: true
        case .operation(_, let left, let right, _): left.isConstant && right.isConstant
        case .path, .aggregate, .subquery: false
        }
    }
}
