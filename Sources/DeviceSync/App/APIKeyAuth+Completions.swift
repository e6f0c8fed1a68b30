// The calls about API keys for programs without tasks. Each calls its completion on the callback queue.
extension APIKeyAuth {
    /// Makes a key, then calls `completion` with it; its `key` is not told again.
    public func createAPIKey(
        named name: String, completion: @Sendable @escaping (Result<UserAPIKey, any Error>) -> Void
    ) {
        queue.complete(completion) { try await self.createAPIKey(named: name) }
    }

    /// Makes a key, then calls `completion` with it or an error.
    public func createAPIKey(
        named name: String, completion: @Sendable @escaping (UserAPIKey?, (any Error)?) -> Void
    ) {
        createAPIKey(named: name, completion: Self.apart(completion))
    }

    /// Calls `completion` with the key that has an identifier.
    public func fetchAPIKey(
        _ objectId: ObjectId, completion: @Sendable @escaping (Result<UserAPIKey, any Error>) -> Void
    ) {
        queue.complete(completion) { try await self.fetchAPIKey(objectId) }
    }

    /// Calls `completion` with the key that has an identifier, or an error.
    public func fetchAPIKey(
        _ objectId: ObjectId, completion: @Sendable @escaping (UserAPIKey?, (any Error)?) -> Void
    ) {
        fetchAPIKey(objectId, completion: Self.apart(completion))
    }

    /// Calls `completion` with all keys of the user.
    public func fetchAPIKeys(completion: @Sendable @escaping (Result<[UserAPIKey], any Error>) -> Void) {
        queue.complete(completion) { try await self.fetchAPIKeys() }
    }

    /// Calls `completion` with all keys of the user, or an error.
    public func fetchAPIKeys(completion: @Sendable @escaping ([UserAPIKey]?, (any Error)?) -> Void) {
        fetchAPIKeys(completion: Self.apart(completion))
    }

    /// Calls `completion` with the key that has an identifier.
    @_disfavoredOverload
    public func fetchAPIKey(
        _ objectId: ObjectId, _ completion: @Sendable @escaping (Result<UserAPIKey, any Error>) -> Void
    ) {
        fetchAPIKey(objectId, completion: completion)
    }

    /// Calls `completion` with all keys of the user.
    @_disfavoredOverload
    public func fetchAPIKeys(_ completion: @Sendable @escaping (Result<[UserAPIKey], any Error>) -> Void) {
        fetchAPIKeys(completion: completion)
    }

    /// Deletes a key for good, then calls `completion` with the error or nil.
    public func deleteAPIKey(_ objectId: ObjectId, completion: @Sendable @escaping ((any Error)?) -> Void) {
        queue.complete(completion) { try await self.deleteAPIKey(objectId) }
    }

    /// Lets programs log in with a key again, then calls `completion` with the error or nil.
    public func enableAPIKey(_ objectId: ObjectId, completion: @Sendable @escaping ((any Error)?) -> Void) {
        queue.complete(completion) { try await self.enableAPIKey(objectId) }
    }

    /// Lets nobody log in with a key until it is enabled again, then calls `completion` with the error or nil.
    public func disableAPIKey(_ objectId: ObjectId, completion: @Sendable @escaping ((any Error)?) -> Void) {
        queue.complete(completion) { try await self.disableAPIKey(objectId) }
    }

    private static func apart<Value>(
        _ completion: @Sendable @escaping (Value?, (any Error)?) -> Void
    ) -> @Sendable (Result<Value, any Error>) -> Void {
        { result in
            switch result {
            case .success(let value): completion(value, nil)
            case .failure(let error): completion(nil, error)
            }
        }
    }
}
