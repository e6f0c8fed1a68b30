internal import Changesets
internal import RealmState

/// Where the elements that an app sees stand in a realm's list or set.
///
/// A link may lead to an object that this realm does not have: one that a flexible realm's subscriptions do not select, or that was deleted elsewhere.
struct VisiblePlaces {
    let items: [RealmValue]
    /// Nil if an app sees all of them.
    private let visible: [Int]?

    init(_ items: [RealmValue], of field: _Field) {
        self.items = items
        visible = field.visible(items)
    }

    var count: Int { visible?.count ?? items.count }
    /// The places of all elements.
    var all: [Int] { visible ?? Array(items.indices) }

    subscript(_ position: Int) -> Int {
        precondition(position >= 0 && position < count, "index \(position), the collection has \(count) elements")
        return visible?[position] ?? position
    }

    /// Where an element goes that is to stand before the one at a position.
    func insertion(at position: Int) -> Int { position == count ? items.count : self[position] }
}

extension _Field {
    /// Where the elements stand; what was found out at one moment is remembered: looking for missing objects once for each element would take
    /// too long.
    func places(_ memory: Remembered<VisiblePlaces>) -> VisiblePlaces {
        // What a transaction knows costs nothing to ask for, and what is remembered here would be copied at the next change.
        guard target != nil, owner.isValid, !isKnownToBeWhole else {
            memory.forget()
            return VisiblePlaces(items, of: self)
        }
        return instance.remembered(in: memory) { instance in
            let field = moved(to: instance)
            return VisiblePlaces(field.items, of: field)
        }
    }

    /// The class of the objects that elements link to and that may be missing; nil if there are none.
    fileprivate var target: ObjectBase.Type? {
        guard let target = property?.shape.target, !(target is EmbeddedObject.Type), property?.shape.isOptional == false
        else { return nil }
        return target
    }

    /// Whether a transaction knows that no object is missing.
    fileprivate var isKnownToBeWhole: Bool { instance.view?.isWhole(address) ?? false }

    /// The positions of the elements that an app sees; nil if these are all.
    fileprivate func visible(_ items: [RealmValue]) -> [Int]? {
        guard target != nil, !isKnownToBeWhole else { return nil }
        let exists = instance.read { state in
            items.map { item in
                if case .link(let address) = item { state.contains(address) } else { true }
            }
        }
        if exists.contains(false) { return exists.indices.filter { exists[$0] } }
        instance.view?.noteWhole(address)
        return nil
    }
}
