package import Storage
package import SyncModel
import Synchronization

extension MemorySlice {
    /// Has a client file of an earlier generation reset for a campaign, if it is live or has yet to reset.
    mutating func mark(_ key: ClientFileKey, of app: String, before generation: UInt64, _ campaign: String) {
        guard let file = clientFiles[key], [.live, .resetRequired].contains(file.state), file.generation < generation,
            realms[key.realm]?.name.app == app
        else { return }
        clientFiles[key]?.state = .resetRequired
        clientFiles[key]?.campaign = campaign
    }

    fileprivate mutating func mark(_ steps: TerminationSteps, limit: Int) -> TerminationSteps {
        let keys = clientFiles.keys.filter { key in
            realms[key.realm]?.name.app == steps.app
                && (steps.last.map { (key.realm, key.ident) > ($0.realm, $0.ident) } ?? true)
        }.sorted { ($0.realm, $0.ident) < ($1.realm, $1.ident) }.prefix(limit)
        for key in keys { mark(key, of: steps.app, before: steps.generation, steps.campaign) }
        let after = steps.marked(through: keys.last, isEnd: keys.count < limit)
        terminationSteps[steps.campaign] = after
        return after
    }
}

extension MemorySliceStore {
    package func terminationSteps() async throws(StoreError) -> [TerminationSteps] {
        content.terminationSteps.values.sorted { $0.app < $1.app }
    }

    package func mark(
        _ steps: TerminationSteps, limit: Int, epoch: Epoch
    ) async throws(StoreError) -> TerminationSteps {
        try held.withLock { (content) throws(StoreError) in
            try content.requireOwned(slice, under: epoch)
            return content.mark(steps, limit: limit)
        }
    }

    package func forgettableUsage(before: UInt64, limit: Int) async throws(StoreError) -> [AppUser] {
        let old = content.usage.filter { $0.value.at < before }.sorted { $0.value.at < $1.value.at }
        return old.prefix(limit).map(\.key)
    }
}
