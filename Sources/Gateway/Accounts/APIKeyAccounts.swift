import HTTPTypes
import Logging
import Storage
import SyncModel

/// Keys with which programs log in as the users who made them (docs/http-api.md, "API keys").
struct APIKeyAccounts: Sendable {
    static let provider = "api-key"

    let store: any AccountStore
    let sessions: LoginSessions
    let limits: LoginLimits
    let logger: Logger

    func login(app: AppRecord, key: String, address: ClientAddress) async throws -> Login {
        try await requireProvider(of: app.id)
        let attempt = try limits.begin(app: app.id, address: address)
        guard key.utf8.count <= 256,
            let record = try await store.apiKey(app: app.id, digest: Credential.digest(key)), !record.isDisabled,
            let user = try await store.user(app: app.id, id: record.userID)
        else { throw APIError.invalidAPIKey }
        limits.succeeded(attempt)
        guard !user.isDisabled else { throw APIError.userDisabled }
        return try await sessions.open(user, provider: Self.provider, from: address)
    }

    /// Makes a key; the only time that it is told.
    func create(for user: UserRecord, name: String) async throws -> (record: APIKeyRecord, key: String) {
        try await requireProvider(of: user.app)
        try requireAccount(of: user)
        guard (1...64).contains(name.utf8.count), !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw APIError.badRequest("name: expected 1 to 64 bytes without control characters")
        }
        let key = Credential.make()
        let now = sessions.clock.unixMilliseconds()
        let record = APIKeyRecord(
            id: ObjectID.make(at: now), app: user.app, userID: user.id, name: name, digest: Credential.digest(key),
            isDisabled: false, createdAt: now)
        do {
            try await store.insert(record)
        } catch {
            switch error.code {
            case .alreadyExists: throw APIError(.conflict, "APIKeyAlreadyExists", error.message)
            case .full: throw APIError.badRequest(error.message)
            default: throw error
            }
        }
        logger.info("API key made", metadata: ["app": "\(user.app)", "user": "\(user.id)", "key": "\(record.id)"])
        return (record, key)
    }

    func list(of user: UserRecord) async throws -> [APIKeyRecord] {
        try requireAccount(of: user)
        return try await store.apiKeys(app: user.app, user: user.id)
    }

    func key(_ id: String, of user: UserRecord) async throws -> APIKeyRecord {
        guard let key = try await list(of: user).first(where: { $0.id == id }) else { throw APIError.apiKeyNotFound }
        return key
    }

    func setDisabled(_ disabled: Bool, _ id: String, of user: UserRecord) async throws {
        try requireAccount(of: user)
        try await finding { try await store.setAPIKeyDisabled(disabled, app: user.app, user: user.id, id: id) }
    }

    func remove(_ id: String, of user: UserRecord) async throws {
        try requireAccount(of: user)
        try await finding { try await store.removeAPIKey(app: user.app, user: user.id, id: id) }
    }

    private func finding(_ change: () async throws -> Void) async throws {
        do {
            try await change()
        } catch let error as StoreError where error.code == .notFound {
            throw APIError.apiKeyNotFound
        }
    }

    /// Refuses an anonymous user everything about API keys, as stock clients expect, instead of saying that there are none.
    private func requireAccount(of user: UserRecord) throws(APIError) {
        guard !user.identities.isAnonymous else { throw APIError.anonymousHasNoKeys }
    }

    private func requireProvider(of app: String) async throws {
        guard try await store.loginSettings(app: app, provider: Self.provider) != nil else {
            throw APIError.providerNotFound
        }
    }
}
