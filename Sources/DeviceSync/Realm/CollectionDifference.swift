internal import Changesets
internal import RealmState

/// How the objects of a class differ between two states, as positions in key order.
struct CollectionDifference {
    let positions: PositionDifference
    /// The new collection.
    let keys: [ObjectKey]

    /// - Parameters:
    ///   - changed: the objects that may differ; nil if any may.
    ///   - others: objects that count as modified although they did not change.
    ///   - keys: those of the old state, ascending.
    init(
        _ className: ByteString, from old: RealmState, to new: RealmState, changed: Set<ObjectKey>?,
        others: Set<ObjectKey> = [], keys: [ObjectKey]
    ) {
        var deleted: [ObjectKey] = []
        var inserted: [ObjectKey] = []
        var modified: [ObjectKey] = []
        func compare(_ key: ObjectKey, _ before: StoredObject?, _ after: StoredObject?) {
            switch (before, after) {
            case (nil, nil): break
            case (nil, _): inserted.append(key)
            case (_, nil): deleted.append(key)
            case (let before, let after): if before != after { modified.append(key) }
            }
        }
        if let changed {
            for key in changed.sorted() {
                let address = ObjectAddress(className, key)
                compare(key, old.object(address), new.object(address))
            }
        } else {
            // Side by side.
            var (olds, news) = (old.cursor(of: className), new.cursor(of: className))
            var (before, after) = (olds.next(), news.next())
            while let key = [before?.key, after?.key].compactMap({ $0 }).min() {
                let (isOld, isNew) = (before?.key == key, after?.key == key)
                compare(key, isOld ? before?.object : nil, isNew ? after?.object : nil)
                if isOld { before = olds.next() }
                if isNew { after = news.next() }
            }
        }
        if !others.isEmpty {
            let known = Set(inserted + modified)
            modified += others.filter { !known.contains($0) && new.contains(ObjectAddress(className, $0)) }
            modified.sort()
        }
        let newKeys =
            deleted.isEmpty && inserted.isEmpty ? keys : Self.merge(keys, without: deleted, with: inserted)
        positions = PositionDifference(
            deletions: deleted.map { keys.position(of: $0) }, insertions: inserted.map { newKeys.position(of: $0) },
            modifications: modified.map { newKeys.position(of: $0) })
        self.keys = newKeys
    }

    /// Compares two states of a collection that is filtered or sorted, or taken from a list.
    ///
    /// - Parameters:
    ///   - newKeys: those that meet the query now, in its order.
    ///   - isModified: whether an object that is in both collections has changed.
    init(keys: [ObjectKey], newKeys: [ObjectKey], isModified: (ObjectKey) -> Bool) {
        self.keys = newKeys
        positions = PositionDifference(from: keys, to: newKeys, isModified: isModified)
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
