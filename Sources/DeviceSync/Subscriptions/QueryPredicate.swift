internal import Changesets
internal import Query
internal import RealmState

/// A condition on the objects of a class as the app wrote it: a text, or several put together.
indirect enum QueryPredicate: Sendable {
    case text(QueryText)
    /// Selects every object, or none.
    case constant(Bool)
    case and([QueryPredicate])
    case or([QueryPredicate])
    case not(QueryPredicate)

    /// Selects every object.
    static let all = QueryPredicate.constant(true)

    /// A format of `NSPredicate`, or a text with arguments as `$0`, `$1` ...
    /// - Throws: `ValueMismatch`.
    init(format: String, _ values: [Any]) throws { self = .text(try PredicateFormat.query(format, values)) }

    /// The checked query on the objects of a class.
    /// - Throws: `QueryError`, `ValueMismatch`.
    func query(on className: ByteString, _ schema: QuerySchema) throws -> ObjectQuery {
        if case .text(let text) = self { return try text.query(on: className, schema) }
        return ObjectQuery(className: className, condition: try condition(on: className, schema), schema: schema)
    }

    private func condition(on className: ByteString, _ schema: QuerySchema) throws -> Condition {
        switch self {
        case .text(let text): try text.query(on: className, schema).condition
        case .constant(let value): .constant(value)
        case .and(let parts): .all(try parts.map { try $0.condition(on: className, schema) })
        case .or(let parts): .any(try parts.map { try $0.condition(on: className, schema) })
        case .not(let part): .not(try part.condition(on: className, schema))
        }
    }

    /// The text by which the query is stored, compared and sent: as stock clients write it, but with everything that it says.
    /// - Throws: `ValueMismatch`, which names the class and the mistake, also for a query that means something on devices only.
    func text(on className: ByteString, _ schema: StoredSchema, names: QueryNames = QueryNames()) throws -> String {
        do {
            return try Self.text(of: try query(on: className, QuerySchema(schema, names: names)), schema)
        } catch {
            throw ValueMismatch(description: "\(self) on class \(className): \(error)")
        }
    }

    /// The text of a query, which servers read as the same query.
    /// - Throws: `QueryError`.
    static func text(of query: ObjectQuery, _ schema: StoredSchema) throws -> String {
        let text = query.exactText
        // How large a query may be is for the server to say.
        var limits = QueryLimits()
        (limits.bytes, limits.terms, limits.depth, limits.pathElements) = (.max, .max, .max, .max)
        _ = try ObjectQuery(ByteString(text), on: query.className, schema: QuerySchema(schema), limits: limits)
        return text
    }

    /// What filters are checked for beside the query itself. Of a subscription it is the server that refuses this.
    /// - Throws: `ValueMismatch`, `QueryError`.
    func checkSelectsOnly(on className: ByteString, _ schema: QuerySchema) throws {
        switch self {
        case .text(let text):
            guard try text.query(on: className, schema).arrangement.isEmpty else {
                throw ValueMismatch(
                    description:
                        "\(self) on class \(className): SORT, DISTINCT and LIMIT select nothing; use sorted(by:), distinct(by:) and prefix(_:)"
                )
            }
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { try part.checkSelectsOnly(on: className, schema) }
        case .not(let part): try part.checkSelectsOnly(on: className, schema)
        }
    }
}

extension QueryPredicate: CustomStringConvertible {
    /// The query for people.
    var description: String {
        switch self {
        case .text(let text): "the query \"\(text.text)\""
        case .constant(let value): "the query \"\(value ? "TRUEPREDICATE" : "FALSEPREDICATE")\""
        case .and(let parts): parts.map(\.description).joined(separator: " and ")
        case .or(let parts): parts.map(\.description).joined(separator: " or ")
        case .not(let part): "the negation of \(part)"
        }
    }
}

/// A text of the query language (docs/queries.md), with arguments apart.
struct QueryText: Sendable {
    var text: String
    var arguments: [QueryArgument] = []
    /// Programs write predicates; what a server reads is the language itself.
    var dialect = QueryDialect.predicate

    /// The checked query on the objects of a class.
    /// - Throws: `QueryError`.
    func query(on className: ByteString, _ schema: QuerySchema) throws -> ObjectQuery {
        try ObjectQuery(ByteString(text), on: className, schema: schema, arguments: arguments, dialect: dialect)
    }
}
