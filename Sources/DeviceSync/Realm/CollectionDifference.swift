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

    /// Of a collection that is filtered or sorted.
    ///
    /// - Parameter newKeys: those that meet the query now, in its order. What has moved was deleted and inserted.
    init(
        _ className: ByteString, from old: RealmState, to new: RealmState, changed: Set<ObjectKey>?, keys: [ObjectKey],
        newKeys: [ObjectKey]
    ) {
        self.keys = newKeys
        let oldPositions = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
        var common: [(old: Int, new: Int)] = []
        for (position, key) in newKeys.enumerated() {
            if let old = oldPositions[key] { common.append((old, position)) } else { insertions.append(position) }
        }
        let staying = Self.longestRise(common.map(\.old))
        var isStill = Set<ObjectKey>()
        for (index, place) in common.enumerated() {
            isStill.insert(newKeys[place.new])
            if staying.contains(index) {
                let address = ObjectAddress(className, newKeys[place.new])
                guard changed?.contains(address.key) ?? true, old.object(address) != new.object(address) else {
                    continue
                }
                modifications.append(place.new)
            } else {
                deletions.append(place.old)
                insertions.append(place.new)
            }
        }
        for (position, key) in keys.enumerated() where !isStill.contains(key) { deletions.append(position) }
        deletions.sort()
        insertions.sort()
    }

    /// The indexes of a longest rising subsequence: the elements that need not be reported as moved.
    private static func longestRise(_ numbers: [Int]) -> Set<Int> {
        /// Of the rises of each length the one with the smallest end, as the index of that end.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            let length = ends.countOfFirst { numbers[$0] < number }
            previous[index] = length > 0 ? ends[length - 1] : nil
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var result: Set<Int> = []
        var next = ends.last
        while let index = next {
            result.insert(index)
            next = previous[index]
        }
        return result
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

extension Array {
    /// How many elements satisfy the predicate, which all of them do up to some place and none after.
    fileprivate func countOfFirst(where isBefore: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension [ObjectKey] {
    /// Where a key is, or would be, in an ascending array.
    fileprivate func position(of key: ObjectKey) -> Int { countOfFirst { $0 < key } }
}
