package import Changesets
package import RealmState

/// The clauses SORT, DISTINCT and LIMIT for the objects that a query selects, in the order in which they are applied.
package struct Arrangement: Sendable, Hashable {
    package struct Key: Sendable, Hashable {
        package var hops: [QueryPath.Hop]
        package var property: QueryProperty
        /// The key of an element within a dictionary.
        package var dictionaryKey: ByteString?
    }
    package enum Step: Sendable, Hashable {
        case sort([SortKey])
        case distinct([Key])
        case limit(Int)
    }
    package struct SortKey: Sendable, Hashable {
        package var key: Key
        package var isAscending: Bool
    }

    package var steps: [Step] = []

    package var isEmpty: Bool { steps.isEmpty }

    /// The text after a canonical condition.
    var text: String {
        steps.map { step in
            switch step {
            case .sort(let keys):
                let texts = keys.map { "\($0.key.text) \($0.isAscending ? "ASC" : "DESC")" }
                return " SORT(\(texts.joined(separator: ", ")))"
            case .distinct(let keys): return " DISTINCT(\(keys.map(\.text).joined(separator: ", ")))"
            case .limit(let count): return " LIMIT(\(count))"
            }
        }.joined()
    }
}

extension Arrangement.Key {
    var text: String {
        let path = QueryPath(
            hops: hops, end: .property(property, dictionaryKey.map { [.key($0)] } ?? []), quantifier: nil,
            place: TextPlace(offset: 0))
        var text = CanonicalText.path(path)
        if dictionaryKey == nil, text.hasSuffix("[*]") { text.removeLast(3) }
        return text
    }

    /// The value by which an object is sorted; nil behind a null link, which comes last.
    package func value(
        of object: any QueryObject, _ address: ObjectAddress, in graph: (any QueryGraph)? = nil
    ) -> Value? {
        let node = QueryNode(object: object, className: address.className, key: address.key)
        guard let last = Reader(graph: graph, meter: nil).objects(over: hops[...], from: node).first else { return nil }
        let value = last.value(property)
        guard let dictionaryKey else { return value }
        guard case .dictionary(let entries) = value else { return .null }
        return entries[dictionaryKey] ?? .null
    }
}

extension Checker {
    func check(_ syntax: [ArrangementSyntax]) throws(QueryError) -> Arrangement {
        var result = Arrangement()
        for step in syntax {
            switch step {
            case .limit(let count): result.steps.append(.limit(Int(count)))
            case .distinct(let paths): result.steps.append(.distinct(try paths.map(key)))
            case .sort(let parts):
                let keys = try parts.map { part throws(QueryError) in
                    Arrangement.SortKey(key: try key(part.path), isAscending: part.ascending)
                }
                // If sorts follow each other, the later one counts first.
                if case .sort(let earlier)? = result.steps.last {
                    result.steps[result.steps.count - 1] = .sort(keys + earlier)
                } else {
                    result.steps.append(.sort(keys))
                }
            }
        }
        return result
    }

    private func key(_ syntax: PathSyntax) throws(QueryError) -> Arrangement.Key {
        var hops: [QueryPath.Hop] = []
        var type = current
        var found: QueryProperty?
        var dictionaryKey: ByteString?
        for element in syntax.elements {
            guard case .key(let name) = element.element else {
                throw .query("expected names in SORT and DISTINCT, found an index", at: element.offset)
            }
            if let property = found {
                if property.collection == .dictionary, dictionaryKey == nil {
                    dictionaryKey = name
                    continue
                }
                guard property.type == .link, !property.isCollection, let target = property.target,
                    let next = schema[target]
                else {
                    throw .query(
                        "\"\(property.name)\" is \(property.kindText): nothing follows it in SORT and DISTINCT",
                        at: element.offset)
                }
                hops.append(.init(kind: .link(property), target: target, isEmbedded: next.isEmbedded))
                type = next
            }
            guard let property = type[name] else { throw .unknownProperty(name, type, element.offset) }
            found = property
        }
        guard let found, !found.isCollection || dictionaryKey != nil, found.type != .link || dictionaryKey != nil else {
            throw .query(
                "SORT and DISTINCT take single values, found \(found?.kindText ?? "nothing")", at: syntax.offset)
        }
        return Arrangement.Key(hops: hops, property: found, dictionaryKey: dictionaryKey)
    }
}
