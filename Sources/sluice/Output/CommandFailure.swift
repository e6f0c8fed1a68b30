import AMQP
import ArgumentParser
import Coordinator
import Inspection
import Messages
import Operations
import Storage

/// An error for the person at the shell, with the exit code that a script can act on (sysexits.h).
struct CommandFailure: Error, CustomStringConvertible {
    enum Kind: Int32 {
        case badInput = 65
        case notFound = 66
        case unreachable = 69
        case internalError = 70
        case tryAgain = 75
        case notAllowed = 77
    }

    var kind: Kind
    var message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    var description: String { message }
}

/// Runs a command's body; whatever it throws is printed once to standard error and becomes the exit code.
func reportingFailures(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let exit as ExitCode {
        throw exit
    } catch is CancellationError {
        throw ExitCode(130)
    } catch {
        let failure = CommandFailure(describing: error)
        Printing.note("sluice: \(failure.message)")
        throw ExitCode(failure.kind.rawValue)
    }
}

extension CommandFailure {
    init(describing error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let refused as RefusedWrite: self = refused.failure
        case let error as MissingTopology: self.init(.notAllowed, "broker: \(error)")
        case let error as ForeignBroker: self.init(.badInput, "broker: \(error)")
        case let error as AMQPError where error.code == .resourceLocked:
            self.init(
                .tryAgain,
                "broker: another process runs with this id, or one that was lost has not been given up by the broker yet; give each "
                    + "process an id of its own (SLUICE_ID): \(error.message)")
        case let error as CoordinatorError where error.code == .noAdminToken: self.init(.badInput, error.message)
        case let error as AMQPError:
            let kind: Kind =
                switch error.code {
                case .authenticationFailed, .accessRefused: .notAllowed
                case .invalidArgument, .preconditionFailed: .badInput
                default: error.isRetriable ? .unreachable : .internalError
                }
            self.init(kind, "broker: \(error)")
        case let error as OperationsError: self.init(.badInput, error.message)
        case let error as StoreError:
            let kind: Kind =
                switch error.code {
                case .notFound: .notFound
                case .denied: .notAllowed
                case .unavailable: .tryAgain
                case .alreadyExists, .mismatch, .invalidURL: .badInput
                default: .internalError
                }
            self.init(kind, "store: \(error)")
        case let error as InspectionError:
            let kind: Kind =
                switch error.code {
                case .notFound: .notFound
                case .badInput: .badInput
                case .corrupt: .internalError
                }
            self.init(kind, error.message)
        default: self.init(.internalError, "\(error)")
        }
    }
}
