package import Changesets
package import RealmState

/// A query on the objects of one class: read, checked against a schema, and ready to be tried on objects.
package struct ObjectQuery: Sendable {
    package let className: ByteString
    package let condition: Condition
    package let arrangement: Arrangement
    /// The columns of the class itself that the condition looks at, in ascending order.
    package let columns: [ColumnID]
    let schema: QuerySchema
    private let test: Test
    /// The same for conditions that look at nothing but the object itself.
    private let objectTest: ObjectTest.Test?

    /// Reads and checks a query.
    /// - Parameters:
    ///   - arguments: what stands for `$0`, `$1` ...
    ///   - dialect: whose rules the text follows.
    ///   - exists: whether an object exists that the query names as `obj(...)`; one that does not acts as null. Without it all do.
    package init(
        _ text: ByteString, on className: ByteString, schema: QuerySchema, arguments: [QueryArgument] = [],
        limits: QueryLimits = QueryLimits(), dialect: QueryDialect = .language,
        exists: (@Sendable (ObjectAddress) -> Bool)? = nil
    ) throws(QueryError) {
        let syntax = try SyntaxParser.parse(text.bytes, limits: limits)
        guard let type = schema[className] else {
            throw .query("there is no class \"\(className)\"", at: 0)
        }
        var checker = Checker(
            schema: schema, arguments: QueryArguments(values: arguments), limits: limits, exists: exists,
            dialect: dialect, current: type)
        let condition = try checker.check(syntax.condition)
        self.init(
            className: className, condition: condition, arrangement: try checker.check(syntax.arrangement),
            schema: schema)
    }

    /// A query whose condition has been checked.
    package init(
        className: ByteString, condition: Condition, arrangement: Arrangement = Arrangement(), schema: QuerySchema
    ) {
        self.className = className
        self.condition = condition
        self.arrangement = arrangement
        self.schema = schema
        columns = condition.ownColumns
        test = Compiler.compile(condition)
        objectTest = ObjectTest.make(condition)
    }

    /// The query in its normal form, which selects the same.
    package func normalized(_ normal: NormalizedQuery) -> ObjectQuery {
        ObjectQuery(className: className, condition: normal.condition, arrangement: arrangement, schema: schema)
    }

    /// Whether the query selects an object; what SORT, DISTINCT and LIMIT do is `arrangement`.
    package func matches(_ object: any QueryObject, key: ObjectKey, in graph: (any QueryGraph)? = nil) -> Bool {
        let node = QueryNode(object: object, className: className, key: key)
        return test(Trial(node: node, graph: graph))
    }

    /// Likewise, for an object as stores have it.
    ///
    /// - Parameter meter: if it is used up, what is returned does not count.
    package func matches(
        _ object: StoredObject, key: ObjectKey, in graph: (any QueryGraph)? = nil, meter: EvaluationMeter? = nil
    ) -> Bool {
        if let objectTest { return objectTest(object, meter) }
        let node = QueryNode(object: object, className: className, key: key)
        return test(Trial(node: node, graph: graph, meter: meter))
    }

    /// Returns a text for people that says which part of the query takes most on an object; nil if no part takes anything.
    ///
    /// - Parameters:
    ///   - perObject: what one object may take.
    ///   - within: what finding out may take; nil: as much.
    package func explanation(
        of object: StoredObject, key: ObjectKey, perObject: Int, within: Int? = nil
    ) -> String? {
        let limit = within ?? perObject
        let meter = EvaluationMeter(perObject: min(perObject / 4, limit), limit: limit)
        var dearest: (part: Condition, steps: Int)?
        var count = 0
        condition.forEachLeaf { leaf in
            guard meter.overrun == nil, count < 1_000 else { return }
            count += 1
            let query = ObjectQuery(className: className, condition: leaf, schema: schema)
            let before = meter.steps
            _ = meter.trial({ query.matches(object, key: key, meter: meter) }, explain: { "" })
            if meter.steps - before > dearest?.steps ?? 0 { dearest = (leaf, meter.steps - before) }
        }
        guard let dearest else { return nil }
        let text = CanonicalText(schema: schema).text(dearest.part)
        let shown = text.count > 80 ? "\(text.prefix(80))..." : text
        let isAlone = dearest.steps >= perObject / 4
        return
            "class \"\(className.string)\": the query, \(isAlone ? "above all" : "\(count) conditions together, the dearest of them") \(shown)"
    }

    /// The query in the text that stock clients send for it. It loses digits and conditions as theirs does, so that queries which differ may have
    /// the same: it is for people, and nothing is decided by it.
    package var canonicalText: String { CanonicalText(schema: schema).text(condition) + arrangement.text }

    /// The same text as far as nothing is lost by it: it selects what the query does.
    package var exactText: String {
        CanonicalText(schema: schema, isExact: true).text(condition) + arrangement.text
    }
}
