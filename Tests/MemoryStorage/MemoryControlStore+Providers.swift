package import Foundation
package import Storage

extension MemoryControlStore {
    // MARK: Settings

    package func loginSettings(app: String, provider: String) async throws(StoreError) -> Data? {
        content.apps[app] == nil ? nil : content.loginSettings[[app, provider]]
    }

    package func loginSettings(app: String) async throws(StoreError) -> [String: Data] {
        let content = content
        guard content.apps[app] != nil else { return [:] }
        return content.loginSettings.filter { $0.key[0] == app }.reduce(into: [:]) { $0[$1.key[1]] = $1.value }
    }

    package func setLoginSettings(_ settings: Data?, app: String, provider: String) async throws(StoreError) {
        try change { content in
            _ = try content.existingApp(app)
            content.loginSettings[[app, provider]] = settings
        }
    }

    // MARK: API keys

    package func insert(_ key: APIKeyRecord) async throws(StoreError) {
        try change { content in
            let others = content.apiKeys(of: key.userID, in: key.app)
            guard !others.contains(where: { $0.name == key.name }) else {
                throw StoreError(.alreadyExists, "the user has an API key \(key.name) already")
            }
            guard others.count < APIKeyRecord.most else { throw StoreError(.full, "too many API keys") }
            content.apiKeys.append(key)
        }
    }

    package func apiKeys(app: String, user: String) async throws(StoreError) -> [APIKeyRecord] {
        content.apiKeys(of: user, in: app).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    package func apiKey(app: String, digest: String) async throws(StoreError) -> APIKeyRecord? {
        let content = content
        return content.apiKeys.first { key in
            key.app == app && key.digest == digest && content.users[[app, key.userID]] != nil
        }
    }

    package func setAPIKeyDisabled(
        _ disabled: Bool, app: String, user: String, id: String
    ) async throws(StoreError) {
        try change { content in
            let index = try content.existingAPIKey(app, user, id)
            content.apiKeys[index].isDisabled = disabled
        }
    }

    package func removeAPIKey(app: String, user: String, id: String) async throws(StoreError) {
        try change { content in
            let index = try content.existingAPIKey(app, user, id)
            content.apiKeys.remove(at: index)
        }
    }

    // MARK: Other services

    package func adopt(
        _ user: UserRecord, provider: String, externalID: String, profile: [String: String]
    ) async throws(StoreError) -> String {
        try change { content in
            let known = content.externalIdentities.firstIndex {
                $0.app == user.app && $0.provider == provider && $0.externalID == externalID
                    && content.users[[user.app, $0.userID]] != nil
            }
            if let known {
                content.externalIdentities[known].profile = profile
                return content.externalIdentities[known].userID
            }
            try content.insert(user)
            content.externalIdentities.append(
                ExternalIdentity(
                    app: user.app, provider: provider, externalID: externalID, userID: user.id, profile: profile))
            return user.id
        }
    }

    package func externalIdentities(app: String, user: String) async throws(StoreError) -> [ExternalIdentity] {
        content.externalIdentities.filter { $0.app == app && $0.userID == user }
    }

    // MARK: Anonymous users

    package func removeUnseenAnonymousUsers(
        before: UInt64, after: UserCursor?, limit: Int
    ) async throws(StoreError) -> (removed: Int, next: UserCursor?) {
        try change { content in
            let users = content.users.values.sorted { ($0.app, $0.id) < ($1.app, $1.id) }
                .filter { ($0.app, $0.id) > (after?.app ?? "", after?.user ?? "") }.prefix(limit)
            var removed = 0
            for user in users where user.createdAt < before && user.identities.map(\.provider) == ["anon-user"] {
                let sessions = content.sessions.values.filter { $0.app == user.app && $0.userID == user.id }
                guard !sessions.contains(where: { $0.lastUsedAt >= before }) else { continue }
                for session in sessions { content.sessions[session.id] = nil }
                content.users[[user.app, user.id]] = nil
                removed += 1
            }
            let last = users.count == limit ? users.last : nil
            return (removed, last.map { UserCursor(app: $0.app, user: $0.id) })
        }
    }
}

extension MemoryControl {
    fileprivate func apiKeys(of user: String, in app: String) -> [APIKeyRecord] {
        apiKeys.filter { $0.app == app && $0.userID == user && users[[app, user]] != nil }
    }

    fileprivate func existingAPIKey(_ app: String, _ user: String, _ id: String) throws -> Int {
        guard let index = apiKeys.firstIndex(where: { $0.app == app && $0.userID == user && $0.id == id }) else {
            throw StoreError(.notFound, "the user has no such API key")
        }
        return index
    }
}
