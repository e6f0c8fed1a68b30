import Changesets

/// Gives a query's syntax its meaning: finds its properties in the schema, gives constants the types of what they are compared with,
/// and refuses what cannot be compared. All that can be wrong with a query is found here, before any object is looked at.
struct Checker {
    let schema: QuerySchema
    let arguments: QueryArguments
    let limits: QueryLimits
    /// Whether an object exists that a query names; one that does not counts as null.
    let exists: (@Sendable (ObjectAddress) -> Bool)?
    let dialect: QueryDialect
    /// The class that paths begin at.
    private(set) var current: QueryClass
    /// The subqueries around, outermost first.
    private var variables: PathResolver.Variables = []

    /// Reads constants as the other side of a comparison makes them.
    var constants: ConstantReader {
        ConstantReader(schema: schema, arguments: arguments, exists: exists, dialect: dialect)
    }

    init(
        schema: QuerySchema, arguments: QueryArguments, limits: QueryLimits,
        exists: (@Sendable (ObjectAddress) -> Bool)?, dialect: QueryDialect, current: QueryClass
    ) {
        self.schema = schema
        self.arguments = arguments
        self.limits = limits
        self.exists = exists
        self.dialect = dialect
        self.current = current
    }

    /// Finds what a path means in the schema, from the class at which the condition stands.
    func resolve(_ syntax: PathSyntax) throws(QueryError) -> QueryPath {
        var resolver = PathResolver(syntax, from: current, within: variables, schema, arguments, limits)
        return try resolver.resolve()
    }

    mutating func check(_ syntax: ConditionSyntax) throws(QueryError) -> Condition {
        switch syntax {
        case .constant(let value): return .constant(value)
        case .all(let parts): return .all(try check(parts))
        case .any(let parts): return .any(try check(parts))
        case .not(let part): return .not(try check(part))
        case .comparison(let comparison): return try check(comparison)
        case .between(let left, let list, let offset): return try between(left, list, offset)
        case .fullText(let left, let right, let offset): return try fullText(left, right, offset)
        case .geoWithin(let path, let region, let offset): return try geoWithin(path, region, offset)
        }
    }

    private mutating func check(_ parts: [ConditionSyntax]) throws(QueryError) -> [Condition] {
        try parts.map { part throws(QueryError) in try check(part) }
    }

    /// One side of a comparison.
    /// - Parameter hint: the type of the other side, for a constant.
    mutating func side(_ expression: ExpressionSyntax, hint: QueryType) throws(QueryError) -> Side {
        switch expression {
        case .constant(let constant): return try constants.side(constant, hint)
        case .list(let list): return .list(try constants.list(list, hint))
        case .path(let path): return try side(try resolve(path))
        case .aggregate(let path, let function, let field): return try aggregate(path, function, field)
        case .subquery(let path, let variable, let condition): return try subquery(path, variable, condition)
        case .operation(let op, let left, let right, let offset): return try operation(op, left, right, offset, hint)
        }
    }

    /// Both sides of an operator, which are not both constants; a constant takes its type from the other one.
    mutating func sides(
        _ left: ExpressionSyntax, _ right: ExpressionSyntax
    ) throws(QueryError) -> (left: Side, right: Side) {
        if right.isConstant {
            let leftSide = try side(left, hint: .int)
            return (leftSide, try side(right, hint: leftSide.type))
        }
        let rightSide = try side(right, hint: .int)
        return (try side(left, hint: left.isConstant ? rightSide.type : .int), rightSide)
    }

    /// The type of a property that can only have one is a constant.
    private func side(_ path: QueryPath) throws(QueryError) -> Side {
        guard path.suffix == .type else { return .path(path) }
        switch path.end {
        case .objects: return .constant(Constant(.link))
        case .property(let property, _) where !property.isCollection && property.type != .mixed:
            guard let types = TypeNames(property.type) else { return .path(path) }
            return .constant(Constant(types))
        default: return .path(path)
        }
    }

    private mutating func subquery(
        _ syntax: PathSyntax, _ variable: ByteString, _ condition: ConditionSyntax
    ) throws(QueryError) -> Side {
        let path = try resolve(syntax)
        guard case .objects = path.end, let last = path.hops.last, last.hasList(dialect) else {
            throw .query(
                "expected a list of links or embedded objects for SUBQUERY, found \(path.description)",
                at: syntax.offset)
        }
        guard let target = schema[last.target] else { throw .unknownClass(last.target, syntax.offset) }
        guard !variables.contains(where: { $0.name == variable && $0.className == target.name }) else {
            throw .query(
                "the variable \(variable) already stands for objects of \(target.name) here", at: syntax.offset)
        }
        let outer = current
        current = target
        variables.append((variable, target.name))
        let inner = try check(condition)
        variables.removeLast()
        current = outer
        return .subquery(Subquery(path: path, condition: inner))
    }

    private mutating func aggregate(
        _ syntax: PathSyntax, _ function: AggregateFunction, _ field: ByteString?
    ) throws(QueryError) -> Side {
        let path = try resolve(syntax)
        guard let field else {
            guard case .property(let property, let indexes) = path.end, property.isCollection, indexes.isEmpty else {
                throw .query(
                    "expected a collection before \(function.rawValue), found \(path.description)", at: syntax.offset)
            }
            let type = property.type
            let isTime = dialect == .predicate && type == .timestamp && (function == .min || function == .max)
            guard type.isNumeric || type == .mixed || isTime else {
                throw .query(
                    "expected numbers or mixed values before \(function.rawValue), found \(type.rawValue)",
                    at: syntax.offset)
            }
            return .aggregate(path, function, field: nil)
        }
        guard case .objects = path.end, let last = path.hops.last, let target = schema[last.target] else {
            throw .query(
                "expected links before \(function.rawValue).\(field), found \(path.description)", at: syntax.offset)
        }
        guard let property = target[field] else { throw .unknownProperty(field, target, syntax.offset) }
        let isTime = property.type == .timestamp && (function == .min || function == .max)
        guard !property.isCollection, property.type.isNumeric || property.type == .mixed || isTime else {
            throw .query(
                "\(function.rawValue) cannot be taken of \(target.name).\(field), which is \(property.kindText)",
                at: syntax.offset)
        }
        return .aggregate(path, function, field: property)
    }

    private mutating func operation(
        _ op: ArithmeticOperator, _ left: ExpressionSyntax, _ right: ExpressionSyntax, _ offset: Int, _ hint: QueryType
    ) throws(QueryError) -> Side {
        let (leftSide, rightSide) =
            left.isConstant && right.isConstant
            ? (try side(left, hint: hint), try side(right, hint: hint)) : try sides(left, right)
        if case .constant(let first) = leftSide, case .constant(let second) = rightSide, let first = first.value,
            let second = second.value
        {
            return .constant(Constant(Arithmetic.apply(op, first, second), .mixed))
        }
        for type in [leftSide.type, rightSide.type] where !type.isNumeric && type != .mixed {
            throw .argument("expected numbers on both sides of \"\(op.rawValue)\", found \(type.rawValue)", at: offset)
        }
        return .operation(op, leftSide, rightSide, type: leftSide.type)
    }
}

extension QueryProperty {
    /// The type for people: `list of int`.
    var kindText: String {
        let base = type == .link ? "link to \(target.map(\.string) ?? "any class")" : type.rawValue
        switch collection {
        case .single: return base
        case .list: return "list of \(base)"
        case .set: return "set of \(base)"
        case .dictionary: return "dictionary of \(base)"
        }
    }
}

extension QueryPath.Hop {
    /// Whether a list of links is followed, or all links to an object; in predicates any collection of links.
    fileprivate func hasList(_ dialect: QueryDialect) -> Bool {
        guard case .link(let property) = kind else { return true }
        return property.collection == .list || dialect == .predicate && property.isCollection && selection == .all
    }
}

extension QueryPath {
    /// The path and its type for people.
    var description: String {
        switch (suffix, end) {
        case (.none, .property(let property, _)): "\"\(CanonicalText.path(self))\" (\(property.kindText))"
        case (.none, .objects):
            "\"\(CanonicalText.path(self))\" (\(isMulti ? "links" : "a link") to \(hops.last?.target.string ?? ""))"
        default: "\"\(CanonicalText.path(self))\" (\(type.rawValue))"
        }
    }
}
