import Logging
import Operations

/// The certificates of a process's listeners.
struct Certificates {
    var gateway: ServerIdentity?
    var coordinator: ServerIdentity?
    var operations: ServerIdentity?

    var all: [ServerIdentity] { [gateway, coordinator, operations].compactMap { $0 } }

    init(_ configuration: SluiceConfiguration, roles: [RoleRunner.Role], logger: Logger) throws {
        func identity(_ listener: String, _ files: TLSFiles?) throws -> ServerIdentity? {
            do {
                return try files.map { try ServerIdentity(listener: listener, files: $0, logger: logger) }
            } catch let error as OperationsError {
                throw CommandFailure(.badInput, error.description)
            }
        }
        operations = try identity("operations", configuration.operationsTLS)
        if roles.contains(.gateway) { gateway = try identity("gateway", configuration.gateway.tls) }
        if roles.contains(.coordinator) { coordinator = try identity("coordinator", configuration.coordinator.tls) }
    }
}
