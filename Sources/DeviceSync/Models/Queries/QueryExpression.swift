internal import Query
internal import RealmState

/// A condition or value of a typed query, before it is text of the query language.
indirect enum QueryExpression {
    /// Names as they stand in a query's text, joined by dots, and what stands behind them.
    struct Path {
        var names: [String]
        /// How many of the names lead up to the last collection on the way; nil if there is none.
        var collectionEnd: Int?
        /// An index, a key, or `@keys` and the like.
        var suffix = ""

        func appending(_ more: [String], isCollection: Bool) -> Path {
            var path = self
            // A key in the middle, as in `pets['rex'].name`.
            if let last = names.last { path.names[names.count - 1] = last + suffix }
            path.suffix = ""
            path.names += more
            if isCollection { path.collectionEnd = path.names.count }
            return path
        }

        /// The path, or the value itself.
        var text: String { (names.isEmpty ? "SELF" : names.joined(separator: ".")) + suffix }
    }

    case path(Path)
    case constant(QueryArgument)
    /// An aggregate: of a collection, or of a property of the objects in a collection.
    case aggregate(Path, String)
    case comparison(QueryExpression, String, QueryExpression)
    /// A collection that has an element, or one of a list of them.
    case any(QueryExpression, String, QueryExpression)
    case between(QueryExpression, QueryExpression, QueryExpression)
    /// A location that is in an area, which is text of the query language.
    case geoWithin(QueryExpression, String)
    case and(QueryExpression, QueryExpression)
    case or(QueryExpression, QueryExpression)
    case not(QueryExpression)
    /// How many objects of a collection meet a condition.
    case subqueryCount(QueryExpression)

    /// The query in the query language.
    var predicate: QueryPredicate {
        var writer = Writer()
        let text = writer.condition(self)
        return .text(QueryText(text: text, arguments: writer.arguments))
    }

    /// The collection that all paths of a condition go over first; nil if they do not go over one and the same.
    fileprivate var collection: [String]? {
        var result: [String]?
        var isOne = true
        forEachPath { path in
            guard let end = path.collectionEnd else { return isOne = false }
            let names = Array(path.names.prefix(end))
            if let result, result != names { isOne = false }
            result = names
        }
        return isOne ? result : nil
    }

    private func forEachPath(_ body: (Path) -> Void) {
        switch self {
        case .path(let path), .aggregate(let path, _): body(path)
        case .constant: break
        case .comparison(let left, _, let right), .any(let left, _, let right), .and(let left, let right),
            .or(let left, let right):
            left.forEachPath(body)
            right.forEachPath(body)
        case .between(let side, let low, let high): for part in [side, low, high] { part.forEachPath(body) }
        case .not(let part), .subqueryCount(let part), .geoWithin(let part, _): part.forEachPath(body)
        }
    }

    /// Writes expressions as text, with the constants apart.
    private struct Writer {
        var arguments: [QueryArgument] = []
        /// The collection whose objects a subquery is about, and its variable.
        var subquery: (collection: [String], variable: String)?

        mutating func condition(_ expression: QueryExpression) -> String {
            switch expression {
            // A Boolean property alone.
            case .path(let path): return "\(text(path)) == true"
            case .constant(let argument): return argument == .value(.bool(true)) ? "TRUEPREDICATE" : "FALSEPREDICATE"
            case .comparison(let left, let op, let right): return "\(side(left)) \(op) \(side(right))"
            case .any(let left, let op, let right): return "ANY \(side(left)) \(op) \(side(right))"
            case .between(let left, let low, let high):
                return "\(side(left)) BETWEEN {\(side(low)), \(side(high))}"
            case .geoWithin(let left, let region): return "\(side(left)) GEOWITHIN \(region)"
            case .and(let left, let right): return "(\(condition(left)) AND \(condition(right)))"
            case .or(let left, let right): return "(\(condition(left)) OR \(condition(right)))"
            case .not(let part): return "NOT (\(condition(part)))"
            case .aggregate, .subqueryCount:
                preconditionFailure("a number alone is no condition; compare it with something")
            }
        }

        private mutating func side(_ expression: QueryExpression) -> String {
            switch expression {
            case .path(let path): return text(path)
            case .constant(.value(.null)): return "NULL"
            case .constant(let argument):
                arguments.append(argument)
                return "$\(arguments.count - 1)"
            case .aggregate(let path, let function):
                guard let end = path.collectionEnd, end < path.names.count else { return "\(text(path)).\(function)" }
                let collection = Path(names: Array(path.names.prefix(end)))
                return "\(text(collection)).\(function).\(path.names.dropFirst(end).joined(separator: "."))"
            case .subqueryCount(let part):
                guard let collection = part.collection, subquery == nil else {
                    preconditionFailure(
                        "count of a condition needs one in which every property is one of the objects of one and the same collection"
                    )
                }
                subquery = (collection, "$obj")
                defer { subquery = nil }
                return "SUBQUERY(\(collection.joined(separator: ".")), $obj, \(condition(part))).@count"
            case .comparison, .any, .between, .geoWithin, .and, .or, .not:
                preconditionFailure("a condition cannot be compared with anything")
            }
        }

        private func text(_ path: Path) -> String {
            guard let subquery, path.names.starts(with: subquery.collection) else { return path.text }
            var inner = path
            inner.names = [subquery.variable] + path.names.dropFirst(subquery.collection.count)
            return inner.text
        }
    }
}
