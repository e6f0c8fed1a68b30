package import Changesets
package import RealmState

/// A condition that a program makes, where a text would have to be written and read again: names need not be identifiers, and constants are values.
package indirect enum QueryTerm: Sendable {
    /// A path from the object to what is compared, with the quantifier for the collections on it.
    package struct Path: Sendable {
        package enum Step: Hashable, Sendable {
            case name(ByteString)
            case index(Int64)
        }

        package var steps: [Step]
        package var quantifier: Quantifier?

        package init(_ steps: [Step], quantifier: Quantifier? = nil) {
            self.steps = steps
            self.quantifier = quantifier
        }
    }

    case constant(Bool)
    case all([QueryTerm])
    case any([QueryTerm])
    case not(QueryTerm)
    case comparison(Path, ComparisonOperator, QueryArgument, ignoresCase: Bool = false)
    /// Both bounds included.
    case between(Path, Value, Value)
    /// The number of a collection's elements.
    case count(Path, ComparisonOperator, Int64)
}

extension ObjectQuery {
    /// Checks a condition that a program has made, as one that was read from a text.
    ///
    /// - Throws: an error whose offset is 0.
    package init(
        _ term: QueryTerm, on className: ByteString, schema: QuerySchema,
        limits: QueryLimits = QueryLimits()
    ) throws(QueryError) {
        guard let type = schema[className] else { throw .unknownClass(className, 0) }
        var arguments: [QueryArgument] = []
        let syntax = term.syntax(&arguments)
        var checker = Checker(
            schema: schema, arguments: QueryArguments(values: arguments), limits: limits, exists: nil,
            dialect: .language, current: type)
        let condition = try checker.check(syntax)
        self.init(className: className, condition: condition, arrangement: try checker.check([]), schema: schema)
    }
}

extension QueryTerm {
    /// - Parameter arguments: gets the constants.
    fileprivate func syntax(_ arguments: inout [QueryArgument]) -> ConditionSyntax {
        switch self {
        case .constant(let value): return .constant(value)
        case .all(let parts): return .all(parts.map { $0.syntax(&arguments) })
        case .any(let parts): return .any(parts.map { $0.syntax(&arguments) })
        case .not(let part): return .not(part.syntax(&arguments))
        case .comparison(let path, let op, let constant, let ignoresCase):
            let right = Self.constant(constant, &arguments)
            return .comparison(
                .init(op: op, ignoresCase: ignoresCase, left: .path(path.syntax()), right: .constant(right), offset: 0))
        case .between(let path, let low, let high):
            let list = ListSyntax(
                elements: [Self.constant(.value(low), &arguments), Self.constant(.value(high), &arguments)],
                quantifier: nil, offset: 0)
            return .between(.path(path.syntax()), list, offset: 0)
        case .count(let path, let op, let number):
            let right = LocatedConstant(constant: .value(.int(number)), offset: 0)
            return .comparison(
                .init(
                    op: op, ignoresCase: false, left: .path(path.syntax(.count)), right: .constant(right), offset: 0))
        }
    }

    private static func constant(_ constant: QueryArgument, _ arguments: inout [QueryArgument]) -> LocatedConstant {
        arguments.append(constant)
        return LocatedConstant(constant: .argument(arguments.count - 1, nil), offset: 0)
    }
}

extension QueryTerm.Path {
    fileprivate func syntax(_ suffix: PathSyntax.Suffix = .none) -> PathSyntax {
        let elements = steps.map { step in
            let element: PathSyntax.Element =
                switch step {
                case .name(let name): .key(name)
                case .index(let index): .index(index)
                }
            return PathSyntax.LocatedElement(element: element, offset: 0)
        }
        return PathSyntax(elements: elements, quantifier: quantifier, suffix: suffix, offset: 0)
    }
}
