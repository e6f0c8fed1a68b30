package import Foundation
import Subprocess
import SystemPackage

/// Gives mails to a command, on its standard input.
package struct CommandMailHook: MailHook {
    private let command: String
    private let patience: Duration

    /// - Parameter command: the path of a program, called without arguments.
    package init(command: String, patience: Duration = .seconds(10)) {
        self.command = command
        self.patience = patience
    }

    package func deliver(_ mail: Data) async throws {
        // A mail is smaller than a pipe, so this waits for nobody; and as the pipe's end is still ours, nobody can have gone.
        let input = try FileDescriptor.pipe()
        do {
            try input.writeEnd.closeAfter { _ = try input.writeEnd.writeAll(mail) }
        } catch {
            try? input.readEnd.close()
            throw error
        }
        switch try await run(input.readEnd) {
        case .exited(0): break
        case .exited(let code): throw GatewayError(.mail, "the mail command exited with \(code)")
        case .signaled(let signal): throw GatewayError(.mail, "the mail command was ended by signal \(signal)")
        case nil: throw GatewayError(.mail, "the mail command took longer than \(patience)")
        }
    }

    /// Runs the command to its end; nil if that took too long, and the command was killed.
    private func run(_ input: FileDescriptor) async throws -> TerminationStatus? {
        // The process's own surroundings hold secrets.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await withThrowingTaskGroup(of: TerminationStatus?.self) { group in
            group.addTask {
                // Cancelled, it kills the command.
                try await Subprocess.run(
                    .path(FilePath(command)), environment: .custom(["PATH": path]),
                    input: .fileDescriptor(input, closeAfterSpawningProcess: true), output: .discarded,
                    error: .discarded
                ).terminationStatus
            }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}
