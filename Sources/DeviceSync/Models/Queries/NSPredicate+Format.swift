#if !canImport(ObjectiveC)
public import Foundation

// Foundation has predicates without formats here. A predicate made of a format keeps what it was made of in its block, which hands it to an object that asks in the right way.

extension NSPredicate {
    /// A predicate of a format, as in `NSPredicate(format: "age > %d AND name == %@", 3, "Rex")`: a query in the language of docs/queries.md.
    ///
    /// It is for the filters and subscriptions of this library; other objects do not match it. A placeholder without its argument traps.
    public convenience init(format: String, _ args: Any...) { self.init(format: format, argumentArray: args) }

    /// A predicate of a format with its arguments; see `init(format:_:)`.
    public convenience init(format: String, argumentArray: [Any]?) {
        let query = ValueConversion.orTrap { try QueryPredicate(format: format, argumentArray ?? []) }
        self.init { object, _ in
            guard let probe = object as? PredicateProbe else { return false }
            probe.query = query
            return true
        }
    }
}

/// Takes the query out of a predicate that was made of a format.
private final class PredicateProbe {
    var query: QueryPredicate?
}

extension QueryPredicate {
    /// The query of a predicate that was made of a format or of a constant; another one traps.
    init(_ predicate: NSPredicate) {
        let probe = PredicateProbe()
        let holds = predicate.evaluate(with: probe)
        if let query = probe.query {
            self = query
        } else {
            // What a constant predicate says of one object, it says of all.
            precondition(
                predicate == NSPredicate(value: holds),
                "only predicates made by NSPredicate(format:) or NSPredicate(value:) can filter a realm's objects")
            self = holds ? .all : QueryPredicate(text: "FALSEPREDICATE", arguments: [])
        }
    }
}

extension Results {
    /// Returns the objects that meet a predicate that was made of a format; see `filter(_:_:)`. A predicate made of a block traps.
    public func filter(_ predicate: NSPredicate) -> Results<Element> {
        ValueConversion.orTrap { try filtered { QueryPredicate(predicate) } }
    }
}
#endif
