import Foundation
import Subprocess
import SystemPackage

/// A program that runs to its end: commands of the operator's shell, and scripts of the tests.
package enum Program {
    /// The most that a program may print.
    private static let maxOutputBytes = 256 << 20

    /// Runs a program, and returns what it wrote to standard output.
    ///
    /// - Parameters:
    ///   - environment: nil: as this process has it.
    ///   - name: what the program is called in errors.
    /// - Throws: `LocalClusterError` with the program's complaint if it does not exit with 0.
    @discardableResult
    package static func run(
        _ executable: String, _ arguments: [String], environment: [String: String]? = nil, called name: String? = nil
    ) async throws -> String {
        let result = try await Subprocess.run(
            .path(FilePath(executable)), arguments: Arguments(arguments),
            environment: environment.map(Environment.custom) ?? .inherit,
            output: .string(limit: maxOutputBytes), error: .string(limit: maxOutputBytes))
        guard result.terminationStatus.isSuccess else {
            let complaint = result.standardError.isEmpty ? result.standardOutput : result.standardError
            throw LocalClusterError(
                ([name ?? executable] + arguments).joined(separator: " ")
                    + " \(Self.name(of: result.terminationStatus)): \(complaint.trimmingCharacters(in: .newlines))")
        }
        return result.standardOutput
    }

    private static func name(of status: TerminationStatus) -> String {
        switch status {
        case .exited(let code): "exited with \(code)"
        case .signaled(let signal): "was ended by signal \(signal)"
        }
    }
}

extension Environment {
    static func custom(_ values: [String: String]) -> Environment {
        .custom(Dictionary(uniqueKeysWithValues: values.map { (Environment.Key(stringLiteral: $0.key), $0.value) }))
    }
}
