package import Changesets

/// The way from an object to what a query looks at: over links to objects, then to a property of these.
package struct QueryPath: Sendable, Hashable {
    package struct Hop: Sendable, Hashable {
        package enum Kind: Sendable, Hashable {
            case link(QueryProperty)
            /// A hop to all objects of a class whose property points to the object.
            case backlink(className: ByteString, QueryProperty)
        }
        package var kind: Kind
        /// The choice among a collection's links.
        package var selection = PathIndex.all
        /// The class of the objects that are reached.
        package var target: ByteString
        package var isEmbedded: Bool

        /// Whether at most one object is reached, and that by no collection.
        var isUnary: Bool {
            if case .link(let property) = kind { !property.isCollection } else { false }
        }
    }

    package enum End: Sendable, Hashable {
        /// The objects themselves.
        case objects
        case property(QueryProperty, [PathIndex])
        /// `dictionary.@keys`
        case keys(QueryProperty)
        /// `list.length`: of each element.
        case elementLengths(QueryProperty)
        /// `@links.@count`
        case backlinkCount
    }

    package enum Suffix: Sendable, Hashable { case none, count, type }

    package var hops: [Hop]
    package var end: End
    package var quantifier: Quantifier?
    package var suffix = Suffix.none
    package var place: TextPlace

    /// Whether a collection or backlink lies on the way to the last objects.
    var isMulti: Bool { hops.contains { !$0.isUnary } }

    /// The property at the end, if it belongs to the class itself and is not an indexed one.
    var ownProperty: QueryProperty? {
        guard hops.isEmpty, suffix == .none, case .property(let property, let indexes) = end, indexes.isEmpty else {
            return nil
        }
        return property
    }

    /// The end as a collection of scalars, indexed or not.
    var scalarCollection: QueryProperty? {
        guard suffix == .none, case .property(let property, _) = end, property.isCollection else { return nil }
        return property
    }

    var type: QueryType {
        switch suffix {
        case .count: return .int
        case .type: return .typeName
        case .none: break
        }
        switch end {
        case .objects: return .link
        case .property(let property, _): return property.collection == .dictionary ? .mixed : property.type
        case .keys: return .string
        case .elementLengths, .backlinkCount: return .int
        }
    }
}

/// A choice among the elements of a collection.
package enum PathIndex: Sendable, Hashable {
    case all
    case index(Int64)
    case last
    case key(ByteString)
}

/// Where in the query's text a part stands; of no account when parts are compared.
package struct TextPlace: Sendable, Hashable {
    package var offset: Int

    package static func == (left: TextPlace, right: TextPlace) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
