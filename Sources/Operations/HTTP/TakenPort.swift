import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Runs a server, and says which settings to change if it cannot listen where they say.
///
/// - Parameter settings: what the keys of host and port begin with, such as `gateway`.
/// - Throws: `OperationsError` (`cannotListen`); whatever else the server throws.
package func reportingTakenPort(
    at host: String, _ port: Int, settings: String, _ serve: () async throws -> Void
) async throws {
    do {
        try await serve()
    } catch let error as IOError {
        let why =
            switch error.errnoCode {
            case EADDRINUSE: "another process listens at \(host):\(port)"
            case EACCES: "this user may not listen at \(host):\(port)"
            case EADDRNOTAVAIL: "this machine has no address \(host)"
            default: throw error
            }
        let variable = SluiceConfiguration.environmentName(settings)
        throw OperationsError(
            .cannotListen,
            "\(why): set \(settings).host and \(settings).port (\(variable)_HOST, \(variable)_PORT), or end what is there"
        )
    }
}
