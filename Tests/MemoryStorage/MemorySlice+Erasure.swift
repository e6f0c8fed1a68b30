import Changesets
package import Storage
package import SyncModel
import Synchronization

extension MemorySlice {
    mutating func erase(_ batch: SliceBatch) {
        for record in batch.erasures {
            realms[record.realm] = nil
            erasures[record.realm] = record
        }
        for realm in batch.erasureRemovals { erasures[realm] = nil }
        for record in batch.appErasures { appErasures[record.app] = record }
        for app in batch.appRemovals {
            generations[app] = nil
            resetHolds[app] = nil
            appErasures[app] = nil
            terminationSteps = terminationSteps.filter { $0.value.app != app }
            usage = usage.filter { $0.key.app != app }
        }
    }

    /// Deletes some of an erased realm's rows; says whether none is left.
    mutating func sweep(_ realm: RealmID, maxRows: Int, maxBytes: Int) -> Bool {
        var (rows, bytes) = (0, 0)
        func isFull(_ size: Int) -> Bool {
            guard rows == 0 || (rows < maxRows && bytes < maxBytes) else { return true }
            rows += 1
            bytes += size
            return false
        }
        for (row, body) in objects[realm] ?? [:] {
            guard !isFull(body.count) else { return false }
            objects[realm]?[row] = nil
        }
        for entry in indexEntries[realm] ?? [] {
            guard !isFull(0) else { return false }
            indexEntries[realm]?.remove(entry)
        }
        for (key, records) in history where key.realm == realm {
            for (version, record) in records {
                guard !isFull(record.entry.changeset.count) else { return false }
                history[key]?[version] = nil
            }
            history[key] = nil
        }
        digests = digests.filter { $0.key.realm != realm }
        bases[realm] = nil
        reciprocals = reciprocals.filter { $0.key.realm != realm }
        resetCases = resetCases.filter { $0.key.realm != realm }
        for key in clientFiles.keys where key.realm == realm {
            guard !isFull(0) else { return false }
            clientFiles[key] = nil
        }
        return rows < maxRows && bytes < maxBytes
    }
}

extension MemorySliceStore {
    package func erasures(of name: RealmName) async throws(StoreError) -> [ErasureRecord] {
        content.erasures.values.filter { $0.name == name }.sorted { $0.realm > $1.realm }
    }

    package func unsweptErasures(limit: Int) async throws(StoreError) -> [ErasureRecord] {
        Array(content.erasures.values.filter { !$0.isSwept }.sorted { $0.realm < $1.realm }.prefix(limit))
    }

    package func erasures(since: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        Array(content.erasures.values.filter { $0.at >= since }.sorted { $0.at > $1.at }.prefix(limit))
    }

    package func sweptErasures(before: UInt64, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        Array(content.erasures.values.filter { $0.isSwept && $0.at < before }.prefix(limit))
    }

    package func erasures(ofApp app: String, limit: Int) async throws(StoreError) -> [ErasureRecord] {
        Array(content.erasures.values.filter { $0.name.app == app }.prefix(limit))
    }

    package func appErasures() async throws(StoreError) -> [AppErasureRecord] {
        content.appErasures.values.sorted { $0.app < $1.app }
    }

    package func realms(ofApp app: String, limit: Int) async throws(StoreError) -> [RealmRecord] {
        Array(content.realms.values.filter { $0.name.app == app }.prefix(limit))
    }

    package func countRealms(ofApp app: String) async throws(StoreError) -> Int {
        content.realms.values.count { $0.name.app == app }
    }

    package func countClientFiles(in realm: RealmID) async throws(StoreError) -> Int {
        content.clientFiles.values.count { $0.realm == realm && [.live, .resetRequired].contains($0.state) }
    }

    package func sweep(
        _ realm: RealmID, maxRows: Int, maxBytes: Int, epoch: Epoch
    ) async throws(StoreError) -> Bool {
        try held.withLock { (content) throws(StoreError) in
            try content.requireOwned(slice, under: epoch)
            return content.sweep(realm, maxRows: maxRows, maxBytes: maxBytes)
        }
    }
}
