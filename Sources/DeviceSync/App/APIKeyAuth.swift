internal import Dispatch
internal import SyncModel

/// A key with which a program logs in as the user who made it.
public struct UserAPIKey: Sendable, Hashable {
    /// The key's identifier on the server.
    public let objectId: ObjectId
    /// The name that the user gave it.
    public let name: String
    /// The key itself, only from the call that made it.
    public let key: String?
    /// Whether nobody can log in with it at present.
    public let disabled: Bool
}

/// A user's API keys.
public final class APIKeyAuth: Sendable {
    private let core: AppCore
    private let userID: String
    var queue: DispatchQueue { core.syncManager.callbackQueue }

    init(core: AppCore, userID: String) {
        self.core = core
        self.userID = userID
    }

    /// Makes a key; its `key` is not told again.
    /// - Throws: `AppError`.
    public func createAPIKey(named name: String) async throws -> UserAPIKey {
        let json = try await call("POST", body: .object(["name": .string(name)]))
        guard let key = json.flatMap(UserAPIKey.init(json:)) else { throw Self.unexpected }
        return key
    }

    /// The key with an identifier.
    /// - Throws: `AppError`.
    public func fetchAPIKey(_ objectId: ObjectId) async throws -> UserAPIKey {
        guard let key = try await call("GET", objectId).flatMap(UserAPIKey.init(json:)) else { throw Self.unexpected }
        return key
    }

    /// All keys of the user.
    /// - Throws: `AppError`.
    public func fetchAPIKeys() async throws -> [UserAPIKey] {
        guard case .array(let keys)? = try await call("GET") else { throw Self.unexpected }
        return keys.compactMap(UserAPIKey.init(json:))
    }

    /// Deletes a key for good.
    /// - Throws: `AppError`.
    public func deleteAPIKey(_ objectId: ObjectId) async throws { _ = try await call("DELETE", objectId) }

    /// Lets programs log in with a key again.
    /// - Throws: `AppError`.
    public func enableAPIKey(_ objectId: ObjectId) async throws { _ = try await call("PUT", objectId, "/enable") }

    /// Lets nobody log in with a key until it is enabled again.
    /// - Throws: `AppError`.
    public func disableAPIKey(_ objectId: ObjectId) async throws { _ = try await call("PUT", objectId, "/disable") }

    private static var unexpected: AppError {
        AppError(.unknown, "api_keys: expected _id, name and disabled in the answer")
    }

    private func call(
        _ method: String, _ objectId: ObjectId? = nil, _ change: String = "", body: JSONValue? = nil
    ) async throws -> JSONValue? {
        let token = try core.users.token(\.refreshToken, of: userID)
        let path = objectId.map { "/\($0.stringValue)\(change)" } ?? ""
        return try await core.http.apiKeys(method, path, body, refreshToken: token)
    }
}

extension UserAPIKey {
    init?(json: JSONValue) {
        guard let members = json.objectValue, let id = members["_id"]?.stringValue,
            let objectId = try? ObjectId(string: id), let name = members["name"]?.stringValue
        else { return nil }
        self.objectId = objectId
        self.name = name
        key = members["key"]?.stringValue
        disabled = members["disabled"] == .bool(true)
    }
}
