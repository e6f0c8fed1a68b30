import RealmState

/// How a list or a set was before a version, told by how it was after it: the same at its beginning and at its end, with these items between. A
/// member that comes or goes takes the room of one.
struct Splice: Equatable {
    var prefix: Int
    var suffix: Int
    var items: [Value]

    /// - Returns: nil if one of them is no list, or no set.
    init?(_ before: Value, after: Value) {
        let (old, new): ([Value], [Value])
        switch (before, after) {
        case (.list(let before), .list(let after)), (.set(let before), .set(let after)): (old, new) = (before, after)
        default: return nil
        }
        let most = min(old.count, new.count)
        prefix = 0
        while prefix < most, old[prefix] == new[prefix] { prefix += 1 }
        suffix = 0
        while suffix < most - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] { suffix += 1 }
        items = Array(old[prefix..<(old.count - suffix)])
    }

    private init(prefix: Int, suffix: Int, items: [Value]) {
        (self.prefix, self.suffix, self.items) = (prefix, suffix, items)
    }

    /// Nil if the collection is another one than the splice is of.
    func before(after: Value) -> Value? {
        func spliced(_ values: [Value]) -> [Value]? {
            guard prefix >= 0, suffix >= 0, prefix <= values.count, suffix <= values.count - prefix else { return nil }
            return Array(values.prefix(prefix)) + items + Array(values.suffix(suffix))
        }
        switch after {
        case .list(let values): return spliced(values).map { .list($0) }
        case .set(let values): return spliced(values).map { .set($0) }
        default: return nil
        }
    }

    func written(of column: ColumnID) -> Value {
        .list([.int(Int64(column.rawValue)), .int(Int64(prefix)), .int(Int64(suffix)), .list(items)])
    }

    static func read(_ value: Value) -> (ColumnID, Splice)? {
        guard case .list(let parts) = value, parts.count == 4, case .int(let column) = parts[0],
            case .int(let prefix) = parts[1], case .int(let suffix) = parts[2], case .list(let items) = parts[3],
            let id = UInt32(exactly: column)
        else { return nil }
        return (
            ColumnID(rawValue: id),
            Splice(prefix: Int(clamping: prefix), suffix: Int(clamping: suffix), items: items)
        )
    }
}
