#if !canImport(ObjectiveC)
internal import Changesets
public import Foundation
internal import Query
internal import RealmState

// Foundation has predicates without formats here. A predicate made of a format keeps what it was made of in its block, which hands it to an object that asks in the right way.

extension NSPredicate {
    /// A predicate of a format, as in `NSPredicate(format: "age > %d AND name == %@", 3, "Rex")`: a query in the language of docs/queries.md.
    ///
    /// Filters and subscriptions of this library take the predicate, alone or in an `NSCompoundPredicate`; `evaluate(with:)` takes objects of a realm. A
    /// placeholder without its argument traps.
    public convenience init(format: String, _ args: Any...) { self.init(format: format, argumentArray: args) }

    /// A predicate of a format with its arguments; see `init(format:_:)`.
    public convenience init(format: String, argumentArray: [Any]?) {
        let query = ValueConversion.orTrap { try PredicateFormat.query(format, argumentArray ?? []) }
        self.init { object, _ in
            guard let probe = object as? PredicateProbe else { return query.selects(object) }
            probe.query = query
            return true
        }
    }
}

/// Takes the query out of a predicate that was made of a format.
private final class PredicateProbe {
    var query: QueryText?
}

extension QueryPredicate {
    /// How deep compound predicates may be nested that are not of one kind.
    private static let maxDepth = 100

    /// The query of a predicate that was made of a format, of a constant, or of such predicates; another one traps.
    init(_ predicate: NSPredicate) { self.init(predicate, depth: 0) }

    private init(_ predicate: NSPredicate, depth: Int) {
        if let compound = predicate as? NSCompoundPredicate {
            self.init(compound: compound, depth: depth)
            return
        }
        let probe = PredicateProbe()
        let holds = predicate.evaluate(with: probe)
        if let query = probe.query {
            self = .text(query)
        } else {
            // What a constant predicate says of one object, it says of all.
            precondition(
                predicate == NSPredicate(value: holds),
                "only predicates made by NSPredicate(format:), NSPredicate(value:) and NSCompoundPredicate can select a realm's objects; "
                    + "for a block, filter what the collection holds in Swift")
            self = .constant(holds)
        }
    }

    private init(compound: NSCompoundPredicate, depth: Int) {
        precondition(depth < Self.maxDepth, "compound predicates can be nested \(Self.maxDepth) levels deep")
        let kind = compound.compoundPredicateType
        let parts = Self.parts(of: compound).map { QueryPredicate($0, depth: depth + 1) }
        switch kind {
        case .and: self = parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .and(parts)
        case .or: self = parts.isEmpty ? .constant(false) : parts.count == 1 ? parts[0] : .or(parts)
        case .not:
            precondition(parts.count == 1, "a NOT predicate has one predicate to negate, this one has \(parts.count)")
            self = .not(parts[0])
        }
    }

    /// The predicates that a compound predicate puts together; of others of its kind, which may be nested as deep as there is memory, their parts.
    private static func parts(of compound: NSCompoundPredicate) -> [NSPredicate] {
        let kind = compound.compoundPredicateType
        guard kind != .not else { return compound.subpredicates }
        var parts: [NSPredicate] = []
        var waiting = Array(compound.subpredicates.reversed())
        while let next = waiting.popLast() {
            if let inner = next as? NSCompoundPredicate, inner.compoundPredicateType == kind {
                waiting += inner.subpredicates.reversed()
            } else {
                parts.append(next)
            }
        }
        return parts
    }
}

extension QueryText {
    /// Whether the query selects an object of a realm; one that was deleted it does not. Anything else traps.
    fileprivate func selects(_ any: Any?) -> Bool {
        let handle: ObjectHandle? =
            switch any {
            case let object as ObjectBase: object.handle
            case let object as DynamicObject: object.handle
            default: nil
            }
        guard let handle else {
            preconditionFailure(
                "the query \"\(text)\" can be tried on objects of a realm only, came \(any.map { "\(type(of: $0))" } ?? "nil"): "
                    + "add the object to a realm, or write the condition in Swift")
        }
        let names = handle.instance.names(of: handle.className, any.map { type(of: $0) })
        return handle.instance.read { state in
            let state = copy state
            guard handle.isValid, let stored = handle.stored(in: state) else { return false }
            let query = ValueConversion.orTrap {
                try self.query(on: handle.className, QuerySchema(state.schema, names: names))
            }
            return query.matches(stored, key: handle.address.key, in: StateGraph(state))
        }
    }
}
#endif
