import RealmState
import SyncModel

/// The realms that an owner holds between batches.
struct RealmCache {
    private var realms: [RealmName: RealmContext] = [:]
    private var uses: UInt64 = 0

    subscript(name: RealmName) -> RealmContext? { realms[name] }

    /// Holds a realm that is being used now.
    mutating func use(_ context: RealmContext) {
        uses &+= 1
        context.lastUse = uses
        realms[context.name] = context
    }

    /// Holds a realm that changes are pending for, although a commit in between may have let go of it.
    mutating func hold(_ context: RealmContext) { realms[context.name] = context }

    mutating func forget(_ context: RealmContext) {
        if realms[context.name] === context { realms[context.name] = nil }
    }

    mutating func forget(_ name: RealmName) { realms[name] = nil }

    mutating func forget(app: String) { realms = realms.filter { $0.key.app != app } }

    /// Forgets the realms that were not used for longest, until the others keep to the slice's limits. Only when nothing of them
    /// is pending.
    mutating func trim(to limits: WorkerLimits) {
        var objects = 0
        var objectBytes = 0
        var bytes = 0
        for (_, context) in realms {
            objects += context.state.cachedObjectCount
            objectBytes += context.objectBytes
            bytes += context.historyMemory
        }
        func isWithin(realms maxRealms: Int) -> Bool {
            realms.count <= maxRealms && objects <= limits.maxObjects && objectBytes <= limits.maxObjectBytes
                && bytes <= limits.maxHistoryBytes
        }
        guard !isWithin(realms: limits.maxRealms) else { return }
        for context in realms.values.sorted(by: { $0.lastUse < $1.lastUse }) {
            guard !isWithin(realms: limits.maxRealms * 7 / 8) else { return }
            objects -= context.state.cachedObjectCount
            objectBytes -= context.objectBytes
            bytes -= context.historyMemory
            realms[context.name] = nil
        }
    }
}
