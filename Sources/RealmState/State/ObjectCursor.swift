package import Changesets
import HashTreeCollections

/// Goes through the objects of a class by ascending key, a page of the base at a time, whatever becomes of the state meanwhile.
package struct ObjectCursor: Sequence, IteratorProtocol, Sendable {
    private let base: (any StateBase)?
    private let table: TableID
    private let rows: ObjectRows
    /// What the state itself knows of, ascending.
    private var known: ArraySlice<ObjectKey>
    private var page: ArraySlice<(key: ObjectKey, object: StoredObject)> = []
    private var last: ObjectKey?
    private var isAtEnd: Bool

    init(_ table: TableID, rows: ObjectRows, base: (any StateBase)?) {
        self.table = table
        self.rows = rows
        self.base = base
        known = rows.keys.sorted()[...]
        isAtEnd = base == nil
    }

    package mutating func next() -> (key: ObjectKey, object: StoredObject)? {
        while true {
            if page.isEmpty, !isAtEnd { readPage() }
            guard let key = known.first, page.first.map({ key <= $0.key }) ?? true else { return page.popFirst() }
            known.removeFirst()
            // What the state knows covers what the base has.
            if page.first?.key == key { page.removeFirst() }
            if let object = rows[key]?.object { return (key, object) }
        }
    }

    private mutating func readPage() {
        page = base?.objects(of: table, after: last)[...] ?? []
        last = page.last?.key ?? last
        isAtEnd = page.isEmpty
    }
}

/// Goes through the keys of a class in ascending order, as `ObjectCursor` does through its objects.
package struct KeyCursor: Sequence, IteratorProtocol, Sendable {
    private static let pageSize = 1024

    private let base: (any StateBase)?
    private let table: TableID
    private let rows: ObjectRows
    private var known: ArraySlice<ObjectKey>
    private var page: ArraySlice<ObjectKey> = []
    private var last: ObjectKey?
    private var isAtEnd: Bool

    /// - Parameter start: the key after which to begin; nil for the first.
    init(_ table: TableID, rows: ObjectRows, base: (any StateBase)?, after start: ObjectKey?) {
        self.table = table
        self.rows = rows
        self.base = base
        known = rows.keys.filter { key in start.map { $0 < key } ?? true }.sorted()[...]
        last = start
        isAtEnd = base == nil
    }

    package mutating func next() -> ObjectKey? {
        while true {
            if page.isEmpty, !isAtEnd { readPage() }
            guard let key = known.first, page.first.map({ key <= $0 }) ?? true else { return page.popFirst() }
            known.removeFirst()
            if page.first == key { page.removeFirst() }
            if rows[key]?.object != nil { return key }
        }
    }

    private mutating func readPage() {
        page = base?.keys(of: table, after: last, limit: Self.pageSize)[...] ?? []
        last = page.last ?? last
        isAtEnd = page.count < Self.pageSize
    }
}
