package import Storage
import SyncModel

extension MemoryControlStore {
    package func deleteApp(_ deletion: AppDeletionRecord) async throws(StoreError) -> AppDeletionRecord {
        try change { content in
            if let known = content.deletion(of: deletion.app) { return known }
            _ = try content.existingApp(deletion.app)
            content.apps[deletion.app] = nil
            content.deletions.append(deletion)
            return deletion
        }
    }

    package func deletion(ofApp app: String) async throws(StoreError) -> AppDeletionRecord? {
        content.deletion(of: app)
    }

    package func deletions(limit: Int) async throws(StoreError) -> [AppDeletionRecord] {
        let content = content
        return Array(
            content.deletions.sorted { ($1.at, $0.app) < ($0.at, $1.app) }.prefix(limit)
                .compactMap { content.deletion(of: $0.app) })
    }

    package func unfinishedDeletions() async throws(StoreError) -> [AppDeletionRecord] {
        let content = content
        return content.deletions.filter { $0.finishedAt == nil }.sorted { ($0.at, $0.app) < ($1.at, $1.app) }
            .compactMap { content.deletion(of: $0.app) }
    }

    package func note(_ progress: SliceErasureProgress) async throws(StoreError) {
        try change { content in
            guard content.deletion(of: progress.app) != nil else { return }
            var merged = progress
            if let known = content.erased[progress.app]?[progress.slice] {
                merged.erased = max(known.erased, progress.erased)
                merged.left = min(known.left, progress.left)
                merged.isDone = known.isDone || progress.isDone
            }
            content.erased[progress.app, default: [:]][progress.slice] = merged
        }
    }

    package func removeRows(ofDeletedApp app: String, limit: Int) async throws(StoreError) -> Int {
        try change { content in
            guard content.deletion(of: app) != nil else { return 0 }
            return content.removeRows(ofApp: app, limit: limit)
        }
    }

    package func finishDeletion(ofApp app: String, at: UInt64) async throws(StoreError) {
        try change { content in
            for index in content.deletions.indices where content.deletions[index].app == app {
                content.deletions[index].finishedAt = content.deletions[index].finishedAt ?? at
            }
        }
    }
}

extension MemoryControl {
    func deletion(of app: String) -> AppDeletionRecord? {
        guard var deletion = deletions.first(where: { $0.app == app }) else { return nil }
        let slices = erased[app, default: [:]].values
        deletion.slicesDone = slices.count { $0.isDone }
        deletion.realms = slices.reduce(0) { $0 + $1.erased }
        deletion.realmsLeft = slices.reduce(0) { $0 + $1.left }
        return deletion
    }

    /// Users with all that is theirs in steps, the rest at once: it is no database.
    mutating func removeRows(ofApp app: String, limit: Int) -> Int {
        let going = users.filter { $0.value.app == app }.prefix(limit)
        for (key, _) in going { users[key] = nil }
        guard going.isEmpty else { return limit }
        let before = passwords.count + sessions.count + apiKeys.count + campaigns.count + entries.count + parked.count
        passwords = passwords.filter { $0.value.app != app }
        sessions = sessions.filter { $0.value.app != app }
        mailTokens.removeAll { $0.app == app }
        apiKeys.removeAll { $0.app == app }
        externalIdentities.removeAll { $0.app == app }
        loginSettings = loginSettings.filter { $0.key.first != app }
        userChanges[app] = nil
        rules[app] = nil
        schemas[app] = nil
        let names = Set(campaigns.filter { $0.app == app }.map(\.id))
        entries = entries.filter { $0.value.app != app }
        chunks = chunks.filter { !names.contains($0.key) }
        campaigns.removeAll { $0.app == app }
        parked.removeAll { $0.key.realm.app == app }
        let after = passwords.count + sessions.count + apiKeys.count + campaigns.count + entries.count + parked.count
        return min(before - after, limit - 1)
    }
}
