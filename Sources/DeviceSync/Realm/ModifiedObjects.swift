internal import Changesets
internal import RealmState

/// The objects of a class that an observer is to be told of as modified, between two states.
///
/// An observer who names no properties hears of an object that has changed, or from which up to three links lead to one that has: four levels, as in Realm.
struct ModifiedObjects {
    private static let maxLinks = 3

    private let observed: ObservedProperties
    private let old: RealmState
    private let new: RealmState
    /// The objects that may have changed themselves; nil if any may have.
    private let touched: Set<ObjectKey>?
    /// The objects from which links lead to changed ones; nil if nothing is known of that.
    private let linked: Set<ObjectKey>?
    /// Whether something has changed that named properties lead to.
    private let isReached: Bool

    init(
        _ observed: ObservedProperties, _ className: ByteString, _ changed: ChangedObjects, from old: RealmState,
        to new: RealmState
    ) {
        self.observed = observed
        self.old = old
        self.new = new
        touched = changed.keys(of: className, in: new.schema)
        isReached = observed.reach(changed, in: new.schema)
        linked = observed.isAll ? Self.origins(of: changed, className, in: new) : []
    }

    /// Whether no object can be modified.
    var isEmpty: Bool { touched?.isEmpty == true && linked?.isEmpty == true && !isReached }

    /// The objects that are modified although they did not change themselves; nil if nothing is known of that.
    var others: Set<ObjectKey>? { linked }

    /// Whether an object that is in both states is modified.
    func contains(_ address: ObjectAddress) -> Bool {
        guard observed.isAll else {
            guard isReached || touched?.contains(address.key) ?? true else { return false }
            return observed.differ(address, old, new)
        }
        guard let linked else { return differ(address, over: Self.maxLinks) }
        if linked.contains(address.key) { return true }
        return touched?.contains(address.key) ?? true && old.object(address) != new.object(address)
    }

    /// Whether an object differs, or one that so many links lead to.
    private func differ(_ address: ObjectAddress, over links: Int) -> Bool {
        let object = new.object(address)
        if old.object(address) != object { return true }
        guard links > 0, let object else { return false }
        var targets: Set<ObjectAddress> = []
        object.forEachLink { targets.insert($0) }
        return targets.contains { differ($0, over: links - 1) }
    }

    // MARK: Links

    /// The number of objects that are followed backwards before comparing all of the collection's is cheaper.
    private static let maxFollowed = 50_000

    /// The objects of a class from which links lead to changed objects; nil if these are too many.
    private static func origins(of changed: ChangedObjects, _ className: ByteString, in state: RealmState) -> Set<
        ObjectKey
    >? {
        let tables = state.schema.tablesLinked(from: className)
        guard !tables.isEmpty else { return [] }
        guard var targets = changed.addresses(of: tables, in: state.schema) else { return nil }
        var state = state
        var seen = Set(targets)
        var result: Set<ObjectKey> = []
        for _ in 0..<maxLinks where !targets.isEmpty {
            var sources: [ObjectAddress] = []
            for target in targets {
                for link in state.incomingLinks(to: target) {
                    if link.source.className == className { result.insert(link.source.key) }
                    if seen.insert(link.source).inserted { sources.append(link.source) }
                }
                guard seen.count <= maxFollowed else { return nil }
            }
            targets = sources
        }
        return result
    }
}

extension StoredSchema {
    /// The classes that objects of a class link to, by whatever way.
    fileprivate func tablesLinked(from className: ByteString) -> Set<TableID> {
        var linked: Set<TableID> = []
        var parts: Set<TableID> = []
        var rest = table(className).map { [$0] } ?? []
        while let table = rest.popLast() {
            for column in table.columns {
                // A value of any type may link to any class.
                guard !column.element.isMixed else { return Set(tables.filter { $0.kind != .embedded }.map(\.id)) }
                guard let target = column.element.target.flatMap({ self.table($0) }) else { continue }
                let isNew =
                    target.kind == .embedded ? parts.insert(target.id).inserted : linked.insert(target.id).inserted
                if isNew { rest.append(target) }
            }
        }
        return linked
    }
}
