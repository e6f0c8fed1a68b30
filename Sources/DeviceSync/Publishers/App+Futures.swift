#if canImport(Combine)
public import Combine
#elseif OpenCombine
public import OpenCombine
#endif

#if canImport(Combine) || OpenCombine
extension App {
    /// Logs a user in at once, and tells whoever subscribes how that went; see `login(credentials:)`.
    public func login(credentials: Credentials) -> Future<User, any Error> {
        Future(of: { self.login(credentials: credentials, $0) })
    }
}

extension User {
    /// Adds another way to log in to this account, and tells whoever subscribes how that went; see `linkUser(credentials:)`.
    public func linkUser(credentials: Credentials) -> Future<User, any Error> {
        Future(of: { self.linkUser(credentials: credentials, completion: $0) })
    }

    /// Renews the access token, and with it `customData`, and tells whoever subscribes what this is.
    public func refreshCustomData() -> Future<Document, any Error> {
        Future(of: { self.refreshCustomData(completion: $0) })
    }

    /// Ends the session with the server, and tells whoever subscribes how that went; see `logOut()`.
    public func logOut() -> Future<Void, any Error> { Future(ofEnd: logOut(completion:)) }

    /// Logs the user out and forgets it, and tells whoever subscribes how that went; see `remove()`.
    public func remove() -> Future<Void, any Error> { Future(ofEnd: remove(completion:)) }

    /// Deletes the account on the server, and tells whoever subscribes how that went; see `delete()`.
    public func delete() -> Future<Void, any Error> { Future(ofEnd: delete(completion:)) }
}

extension Future where Failure == any Error {
    /// Calls something now, and has its result for all subscribers.
    fileprivate convenience init(of call: @escaping (@escaping @Sendable (Result<Output, any Error>) -> Void) -> Void) {
        self.init({ fulfill in
            let promise = Promised(fulfill: fulfill)
            call { promise.fulfill($0) }
        })
    }
}

extension Future where Output == Void, Failure == any Error {
    fileprivate convenience init(ofEnd call: @escaping (@escaping @Sendable ((any Error)?) -> Void) -> Void) {
        self.init(of: { done in call { done($0.map { .failure($0) } ?? .success(())) } })
    }
}

/// Unchecked: a future takes its result from any thread, but the type of its promise does not say so.
private struct Promised<Output>: @unchecked Sendable {
    let fulfill: (Result<Output, any Error>) -> Void
}
#endif
