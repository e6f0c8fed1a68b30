internal import Changesets
internal import RealmState

/// Objects or values that belong together: `Results`, `List`, `MutableSet`, `LinkingObjects`.
public protocol RealmCollection<Element>: RandomAccessCollection where Index == Int {
    /// The realm; nil for an unmanaged collection.
    var realm: Realm? { get }
    /// Whether the object that the collection belongs to was deleted.
    var isInvalidated: Bool { get }
    /// Whether the collection belongs to a frozen realm.
    var isFrozen: Bool { get }
}

extension _Field {
    /// Whether the object that has the field is there, and a collection in a place for values of any type, too.
    var exists: Bool { owner.exists && (held == .none || collection != nil) }

    /// The collection that is in the place; nil if there is none, or one of another kind than was found in a place for values of any type.
    var collection: RealmValue? {
        switch (value, held) {
        case (.list(let items)?, .none), (.list(let items)?, .list): .list(items)
        case (.dictionary(let entries)?, .none), (.dictionary(let entries)?, .map): .dictionary(entries)
        case (.set(let items)?, .none): .set(items)
        default: nil
        }
    }

    /// The elements of a list, the members of a set, or none.
    var items: [RealmValue] {
        switch value {
        case .list(let items), .set(let items): items
        default: []
        }
    }

    /// The entries of a map.
    var entries: [ByteString: RealmValue] { if case .dictionary(let entries)? = value { entries } else { [:] } }

    /// The same field as another instance of the realm shows it.
    func moved(to instance: RealmInstance) -> _Field {
        _Field(
            instance: instance, address: address, property: property, owner: owner.moved(to: instance), held: held)
    }

    func isSame(as other: _Field) -> Bool {
        address == other.address && instance.isSame(as: other.instance)
    }

    /// Traps unless the field can be written.
    func checkWritable(_ what: String) {
        instance.checkIsInTransaction("\(what) can be changed")
        precondition(owner.exists, "the \(owner.className) object has been deleted or invalidated")
        precondition(
            exists,
            "\(what) that was in '\(address.field)' of a \(owner.className) object is gone: another value is there")
    }
}
