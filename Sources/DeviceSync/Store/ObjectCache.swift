internal import Changesets
internal import RealmState
internal import Synchronization

/// Objects of one version of a realm as they were read last, and which were not there; up to a number of bytes.
///
/// What is read goes into the young half. When that is full, it becomes the old half, and what nothing has read since the last time is
/// forgotten.
final class ObjectCache: Sendable {
    struct Slot: Hashable, Sendable {
        var table: TableID
        var key: ObjectKey
    }
    private struct Entry: Sendable {
        var object: StoredObject?
        var size: Int
    }
    private struct Contents: Sendable {
        var young: [Slot: Entry] = [:]
        var old: [Slot: Entry] = [:]
        /// The size of the young half.
        var size = 0

        mutating func add(_ slot: Slot, _ entry: Entry, limit: Int) {
            if size + entry.size > limit {
                old = young
                young = [:]
                size = 0
            }
            if young.updateValue(entry, forKey: slot) == nil { size += entry.size }
        }
    }

    /// The size that each half may have, in bytes; estimated.
    private static let limit = 8 << 20

    private let contents: Mutex<Contents>

    init() { contents = Mutex(Contents()) }

    /// What another cache has, without objects that were changed since.
    init(_ other: ObjectCache, without changed: [Slot]) {
        var copy = other.contents.withLock { $0 }
        for slot in changed {
            if let entry = copy.young.removeValue(forKey: slot) { copy.size -= entry.size }
            copy.old[slot] = nil
        }
        contents = Mutex(copy)
    }

    /// - Returns: nil if nothing is known of the object.
    func object(_ slot: Slot) -> StoredObject?? {
        contents.withLock { contents -> StoredObject?? in
            if let entry = contents.young[slot] { return .some(entry.object) }
            guard let entry = contents.old[slot] else { return nil }
            contents.add(slot, entry, limit: Self.limit)
            return .some(entry.object)
        }
    }

    /// - Parameter bytes: that the object takes in the file.
    func add(_ slot: Slot, _ object: StoredObject?, bytes: Int) {
        // Values in memory are some times as large.
        let entry = Entry(object: object, size: 200 + 5 * bytes)
        guard entry.size <= Self.limit else { return }
        contents.withLock { $0.add(slot, entry, limit: Self.limit) }
    }
}
