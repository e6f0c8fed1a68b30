internal import Changesets
internal import RealmState

/// How the objects of a class differ between two states, as positions in key order.
struct CollectionDifference {
    /// Positions in the old collection.
    var deletions: [Int] = []
    /// Positions in the new collection, as those of modifications are.
    var insertions: [Int] = []
    var modifications: [Int] = []
    /// The new collection.
    private(set) var keys: [ObjectKey]

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    /// - Parameters:
    ///   - changed: the objects that may differ; nil if any may.
    ///   - keys: those of the old state, ascending.
    init(
        _ className: ByteString, from old: RealmState, to new: RealmState, changed: Set<ObjectKey>?, keys: [ObjectKey]
    ) {
        self.keys = keys
        let candidates = changed?.sorted() ?? Self.allKeys(className, keys, new)
        var deleted: [ObjectKey] = []
        var inserted: [ObjectKey] = []
        var modified: [ObjectKey] = []
        for key in candidates {
            let address = ObjectAddress(className, key)
            switch (old.object(address), new.object(address)) {
            case (nil, nil): break
            case (nil, _): inserted.append(key)
            case (_, nil): deleted.append(key)
            case (let before, let after): if before != after { modified.append(key) }
            }
        }
        deletions = deleted.map { keys.position(of: $0) }
        if !deleted.isEmpty || !inserted.isEmpty { self.keys = Self.merge(keys, without: deleted, with: inserted) }
        insertions = inserted.map { self.keys.position(of: $0) }
        modifications = modified.map { self.keys.position(of: $0) }
    }

    /// Of a collection that is filtered or sorted, or taken from a list.
    ///
    /// - Parameters:
    ///   - newKeys: those that meet the query now, in its order.
    ///   - isModified: whether an object that is in both collections has changed.
    init(keys: [ObjectKey], newKeys: [ObjectKey], isModified: (ObjectKey) -> Bool) {
        self.keys = newKeys
        let positions = PositionDifference(from: keys, to: newKeys, isModified: isModified)
        deletions = positions.deletions
        insertions = positions.insertions
        modifications = positions.modifications
    }

    private static func allKeys(_ className: ByteString, _ before: [ObjectKey], _ new: RealmState) -> [ObjectKey] {
        var all = Set(before)
        new.forEachObject(of: className) { key, _ in all.insert(key) }
        return all.sorted()
    }

    private static func merge(
        _ keys: [ObjectKey], without deleted: [ObjectKey], with inserted: [ObjectKey]
    ) -> [ObjectKey] {
        var result: [ObjectKey] = []
        result.reserveCapacity(keys.count + inserted.count)
        var deletions = deleted[...]
        var insertions = inserted[...]
        for key in keys {
            while let next = insertions.first, next < key { result.append(insertions.removeFirst()) }
            if deletions.first == key { deletions.removeFirst() } else { result.append(key) }
        }
        return result + insertions
    }
}

extension [ObjectKey] {
    /// Where a key is, or would be, in an ascending array.
    fileprivate func position(of key: ObjectKey) -> Int { countOfFirst { $0 < key } }
}
