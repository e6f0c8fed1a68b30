import DequeModule

/// The delivery tags of one consumer that are not answered yet, in rising order. Pure.
struct UnackedTags {
    private var tags: Deque<UInt64> = []

    /// The oldest tag.
    var first: UInt64? { tags.first }

    mutating func append(_ tag: UInt64) { tags.append(tag) }

    mutating func clear() { tags.removeAll(keepingCapacity: true) }

    /// Removes one tag.
    ///
    /// - Returns: whether the tag was there; a tag that was answered before is not.
    mutating func remove(_ tag: UInt64) -> Bool {
        if tags.first == tag {
            tags.removeFirst()
            return true
        }
        var low = 0
        var high = tags.count
        while low < high {
            let middle = (low + high) / 2
            if tags[middle] < tag { low = middle + 1 } else { high = middle }
        }
        guard low < tags.count, tags[low] == tag else { return false }
        tags.remove(at: low)
        return true
    }

    /// Removes all tags up to and including `tag`.
    mutating func removeAll(upTo tag: UInt64) -> [UInt64] {
        var removed: [UInt64] = []
        while let first = tags.first, first <= tag {
            removed.append(first)
            tags.removeFirst()
        }
        return removed
    }
}
