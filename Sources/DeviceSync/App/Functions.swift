internal import SyncModel

/// The functions of an app, called in the name of a user: `try await user.functions.sum([1, 2])`.
@dynamicMemberLookup
public struct Functions: Sendable {
    let core: AppCore
    let userID: String

    /// The function with a name.
    public subscript(dynamicMember name: String) -> FunctionCallable {
        FunctionCallable(core: core, userID: userID, name: name)
    }
}

/// A function of an app.
public struct FunctionCallable: Sendable {
    let core: AppCore
    let userID: String
    let name: String

    /// Calls the function.
    /// - Returns: what it returns.
    /// - Throws: `AppError`.
    public func callAsFunction(_ arguments: [AnyBSON]) async throws -> AnyBSON {
        let body = JSONValue.object([
            "name": .string(name), "arguments": .array(arguments.map(\.extendedJSON)),
        ])
        let answer = try await core.withAccessToken(of: userID) { [core] token in
            try await core.http.callFunction(body, accessToken: token)
        }
        guard let answer else {
            throw AppError(.unknown, "the function \(name) answered with nothing; expected a value in extended JSON")
        }
        return AnyBSON(extendedJSON: answer)
    }

    /// Calls the function, then `completion` with what it returns.
    public func callAsFunction(
        _ arguments: [AnyBSON], _ completion: @Sendable @escaping (Result<AnyBSON, any Error>) -> Void
    ) {
        core.syncManager.callbackQueue.complete(completion) { try await self(arguments) }
    }
}

extension User {
    /// The app's functions.
    public var functions: Functions { Functions(core: core, userID: id) }
}
