internal import Synchronization

/// What becomes of a read of objects that fails.
///
/// A getter cannot throw, and must not show a realm in which something is missing: there the process stops. Work that can throw runs in
/// `collecting`. It goes on with what it gets, and before anything of that is kept, it throws.
final class ReadFailures: Sendable {
    @TaskLocal private static var current: ReadFailures?

    private let first = Mutex<(any Error)?>(nil)

    /// Runs work whose result counts only if everything could be read.
    /// - Throws: what `body` throws, or why something could not be read.
    static func collecting<Result>(_ body: () throws -> Result) throws -> Result {
        let failures = ReadFailures()
        let result = Swift.Result { try $current.withValue(failures, operation: body) }
        // What `body` makes of what is missing is not the reason.
        if let error = failures.error { throw error }
        return try result.get()
    }

    /// Throws if something could not be read. To be called before what was read has consequences.
    static func check() throws { if let error = current?.error { throw error } }

    /// Notes that something could not be read; stops the process where that cannot be noted.
    static func note(_ error: any Error) {
        guard let current else { preconditionFailure("\(error)") }
        current.first.withLock { if $0 == nil { $0 = error } }
    }

    private var error: (any Error)? { first.withLock { $0 } }
}
