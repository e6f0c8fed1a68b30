package import Changesets
import HashTreeCollections

/// The objects that may link to an object: a superset, since links that go away stay listed until somebody asks.
///
/// The index consists of persistent collections, as the objects themselves do: it is copied with every state that
/// somebody keeps.
struct IncomingLinkIndex: Sendable {
    private var sources: TreeDictionary<ObjectAddress, TreeSet<ObjectAddress>> = [:]
    private(set) var count = 0
    /// The number of entries beyond which a scan that removes the stale ones is worth its cost.
    private(set) var countToRebuild = 4096

    mutating func add(from source: ObjectAddress, to target: ObjectAddress) {
        // Asked first: most links were there before, and a look does not copy anything.
        if sources[target]?.contains(source) == true { return }
        if sources[target, default: []].insert(source).inserted { count += 1 }
    }

    mutating func add(linksOf object: StoredObject, from source: ObjectAddress) {
        object.forEachLink { add(from: source, to: $0) }
    }

    func candidates(for target: ObjectAddress) -> TreeSet<ObjectAddress> { sources[target] ?? [] }

    mutating func remove(_ source: ObjectAddress, from target: ObjectAddress) {
        guard sources[target]?.remove(source) != nil else { return }
        count -= 1
        if sources[target]?.isEmpty == true { sources[target] = nil }
    }

    mutating func finishRebuild() { countToRebuild = max(4096, count * 2) }
}

extension StoredObject {
    /// Visits what the object links to, also from values of columns that were erased; a target of several links several times.
    package func forEachLink(_ body: (ObjectAddress) -> Void) {
        for entry in entries { entry.value.forEachLink(body) }
    }
}

extension Value {
    fileprivate func forEachLink(_ body: (ObjectAddress) -> Void) {
        switch self {
        case .link(let target): body(target)
        case .list(let items), .set(let items):
            for item in items { item.forEachLink(body) }
        case .dictionary(let entries):
            for item in entries.values { item.forEachLink(body) }
        case .embedded(let object): object.forEachLink(body)
        case .null, .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid: break
        }
    }
}

extension TableSchema {
    /// Whether objects of the class may hold links, in whatever part of them.
    package var mayHoldLinks: Bool {
        kind != .embedded && (hasErasedColumns || columns.contains { $0.element.type == .link || $0.element.isMixed })
    }
}
