package import Changesets

/// The end of a field address, as far as recording a change there needs to know.
///
/// Without the value: a second owner of a collection would make the change copy it.
package struct RecordedPlace: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A property that is a single value, of a top-level or embedded object.
        case property
        /// A field that is a collection.
        case list, dictionary, set
        case slot
        case entry
    }
    package enum Content: Hashable, Sendable {
        /// A dictionary entry that does not exist, or the slot behind a list's last.
        case absent
        case null, scalar, embedded
        case list(count: Int)
        case dictionary(count: Int)
        case set(count: Int)
    }
    package var kind: Kind
    package var element: ElementType
    package var content: Content
    /// The size of the list that a slot belongs to.
    package var listCount = 0
    /// The class that directly holds the field, and the field.
    package var owner: ByteString
    package var field: ByteString
    /// How many collections are around it.
    package var depth: Int
}

extension RecordedPlace.Content {
    init(_ value: Value) {
        self =
            switch value {
            case .null: .null
            case .embedded: .embedded
            case .list(let items): .list(count: items.count)
            case .dictionary(let entries): .dictionary(count: entries.count)
            case .set(let members): .set(count: members.count)
            default: .scalar
            }
    }
}

extension RecordedPlace.Content {
    /// The kind of a collection; `single` for anything else.
    var collection: CollectionType {
        switch self {
        case .list: .list
        case .dictionary: .dictionary
        case .set: .set
        case .absent, .null, .scalar, .embedded: .single
        }
    }

    /// How many elements a collection has.
    var count: Int {
        switch self {
        case .list(let count), .dictionary(let count), .set(let count): count
        case .absent, .null, .scalar, .embedded: 0
        }
    }
}

extension RecordedPlace.Kind {
    /// The kind of a whole field.
    init(_ collection: CollectionType) {
        self =
            switch collection {
            case .single: .property
            case .list: .list
            case .dictionary: .dictionary
            case .set: .set
            }
    }

    /// The collection that a whole field is; `single` for any other place.
    var collection: CollectionType {
        switch self {
        case .list: .list
        case .dictionary: .dictionary
        case .set: .set
        case .property, .slot, .entry: .single
        }
    }
}
