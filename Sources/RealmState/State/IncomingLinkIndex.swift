import Changesets
import HashTreeCollections

/// Which objects may link to an object: a superset, since links that go away stay listed until somebody asks.
///
/// Of persistent collections, as the objects themselves are: it is copied with every state that somebody keeps.
struct IncomingLinkIndex: Sendable {
    private var sources: TreeDictionary<ObjectAddress, TreeSet<ObjectAddress>> = [:]
    private(set) var count = 0
    /// Beyond this many entries, what is stale is worth a scan to be rid of.
    private(set) var countToRebuild = 4096

    mutating func add(from source: ObjectAddress, to target: ObjectAddress) {
        // Asked first: most links were there before, and a look does not copy anything.
        if sources[target]?.contains(source) == true { return }
        if sources[target, default: []].insert(source).inserted { count += 1 }
    }

    mutating func add(linksOf object: StoredObject, from source: ObjectAddress) {
        for entry in object.entries {
            add(linksIn: entry.value, from: source)
        }
    }

    private mutating func add(linksIn value: Value, from source: ObjectAddress) {
        switch value {
        case .link(let target): add(from: source, to: target)
        case .list(let items), .set(let items):
            for item in items {
                add(linksIn: item, from: source)
            }
        case .dictionary(let entries):
            for item in entries.values {
                add(linksIn: item, from: source)
            }
        case .embedded(let object): add(linksOf: object, from: source)
        case .null, .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid: break
        }
    }

    func candidates(for target: ObjectAddress) -> TreeSet<ObjectAddress> { sources[target] ?? [] }

    mutating func remove(_ source: ObjectAddress, from target: ObjectAddress) {
        guard sources[target]?.remove(source) != nil else { return }
        count -= 1
        if sources[target]?.isEmpty == true { sources[target] = nil }
    }

    mutating func finishRebuild() { countToRebuild = max(4096, count * 2) }
}
