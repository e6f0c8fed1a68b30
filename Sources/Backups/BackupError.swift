import Foundation

/// Why a backup cannot be packed, brought to its place, or fetched from there. Never has a key, a passphrase or a signature in it.
package struct BackupError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The request makes no sense.
        case badInput
        case notFound, alreadyExists
        /// The backup was damaged, cut off, or sealed with another key.
        case corrupt
        /// The key or the account does not allow it.
        case notAllowed
        /// The place cannot be reached, or has no room.
        case unavailable
    }

    package var code: Code
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// Runs what blocks on a thread that may.
func onFileThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
}
