import Merge
import SyncModel

/// Versions of a realm's history as merging wants them, for all of the realm's clients: clients that work at the same time
/// conflict with the same versions, and each is read and parsed once.
///
/// Two halves stand in for an order of use: what is found in the older half moves to the younger one, and when that is full
/// it becomes the older one, whose rest is forgotten.
struct ChangesetCache {
    struct Item {
        var local: LocalChangeset
        /// The bytes of the changeset as it is stored.
        var bytes: Int
    }

    /// A parsed changeset takes several times the room of its bytes.
    private static let expansion = 8

    private var young: [ServerVersion: Item] = [:]
    private var old: [ServerVersion: Item] = [:]
    private var youngBytes = 0
    private var oldBytes = 0
    private let maxBytes: Int

    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// The bytes that the cache occupies, about.
    var bytes: Int { youngBytes + oldBytes }

    mutating func item(_ version: ServerVersion) -> Item? {
        if let item = young[version] { return item }
        guard let item = old[version] else { return nil }
        insert(item)
        return item
    }

    mutating func insert(_ item: Item) {
        if let replaced = young.updateValue(item, forKey: ServerVersion(item.local.version)) {
            youngBytes -= Self.cost(replaced)
        }
        youngBytes += Self.cost(item)
        guard youngBytes > maxBytes / 2 else { return }
        old = young
        oldBytes = youngBytes
        young = [:]
        youngBytes = 0
    }

    private static func cost(_ item: Item) -> Int { expansion * item.bytes + 128 }
}
