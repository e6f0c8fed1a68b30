import SyncModel
internal import Synchronization

/// The contents of a realm that something was made of: those of a version, or of one moment in a transaction.
enum ContentStamp: Hashable, Sendable {
    case version(ClientVersion)
    case edition(Int)
}

/// What was made of a realm's contents at one moment, so that walking over a live collection does not make it anew for every element.
final class Remembered<Value: Sendable>: Sendable {
    private let contents = Mutex<(stamp: ContentStamp, value: Value)?>(nil)

    func value(at stamp: ContentStamp) -> Value? { contents.withLock { $0?.stamp == stamp ? $0?.value : nil } }
    func note(_ value: Value, at stamp: ContentStamp) { contents.withLock { $0 = (stamp, value) } }
    func forget() { contents.withLock { $0 = nil } }
}

extension RealmInstance {
    /// What `make` makes of the contents that the instance shows now.
    /// - Parameter make: gets an instance that shows the same as long as it runs. Not under a lock: what an app filters and sorts by may look at the very
    ///   collection that is being made.
    func remembered<Value>(in memory: Remembered<Value>, _ make: (RealmInstance) -> Value) -> Value {
        let edition = view?.edition
        let snapshot = edition == nil ? current : nil
        let stamp = snapshot.map { .version($0.version) } ?? ContentStamp.edition(edition ?? 0)
        if let known = memory.value(at: stamp) { return known }
        let value = make(snapshot.map { at($0) } ?? self)
        memory.note(value, at: stamp)
        return value
    }
}
