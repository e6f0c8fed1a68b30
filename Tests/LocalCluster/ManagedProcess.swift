import Foundation
import Subprocess
import Synchronization
package import SystemPackage

/// A child process whose standard error goes to a log file.
package final class ManagedProcess: Sendable {
    package let name: String
    package let pid: Int32
    private let end: End

    private final class End: Sendable {
        let hasCome = Mutex(false)
    }

    private init(name: String, pid: Int32, end: End) {
        self.name = name
        self.pid = pid
        self.end = end
    }

    /// Returns once the process runs.
    ///
    /// - Parameters:
    ///   - input, output: ends of pipes that are the process's from now on; without them it reads nothing, and its standard
    ///     output goes to the log, too.
    package static func start(
        name: String, executable: String, arguments: [String], environment: [String: String], logFolder: String,
        input: FileDescriptor? = nil, output: FileDescriptor? = nil
    ) async throws -> ManagedProcess {
        try FileManager.default.createDirectory(atPath: logFolder, withIntermediateDirectories: true)
        // A process that is started again goes on in the log of the one before it.
        func log() throws -> FileDescriptor {
            try FileDescriptor.open(
                FilePath("\(logFolder)/\(name).log"), .writeOnly, options: [.append, .create, .closeOnExec],
                permissions: .ownerReadWrite)
        }
        let input = try input ?? FileDescriptor.open("/dev/null", .readOnly, options: .closeOnExec)
        let output = try output ?? log()
        let complaints = try log()
        let end = End()
        let pid = try await withCheckedThrowingContinuation { (started: CheckedContinuation<Int32, any Error>) in
            Task {
                let isRunning = Mutex(false)
                do {
                    _ = try await Subprocess.run(
                        .path(FilePath(executable)), arguments: Arguments(arguments),
                        environment: .custom(environment),
                        input: .fileDescriptor(input, closeAfterSpawningProcess: true),
                        output: .fileDescriptor(output, closeAfterSpawningProcess: true),
                        error: .fileDescriptor(complaints, closeAfterSpawningProcess: true)
                    ) { process in
                        isRunning.withLock { $0 = true }
                        started.resume(returning: process.processIdentifier.value)
                    }
                } catch {
                    if !isRunning.withLock({ $0 }) { started.resume(throwing: error) }
                }
                end.hasCome.withLock { $0 = true }
            }
        }
        return ManagedProcess(name: name, pid: pid, end: end)
    }

    package var isRunning: Bool { !end.hasCome.withLock { $0 } }

    /// SIGSTOP: the process stands still, and its sockets stay open.
    package func pause() { send(SIGSTOP) }
    package func resume() { send(SIGCONT) }

    package func kill() { send(SIGKILL) }
    package func terminate() { send(SIGTERM) }

    private func send(_ signal: Int32) { if isRunning { _ = Foundation.kill(pid, signal) } }

    /// Waits for the end; kills what has not ended by then.
    package func wait(upTo limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        while isRunning, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(50)) }
        kill()
    }
}

/// Why the cluster or a process of it did not do what was asked.
package struct LocalClusterError: Error, CustomStringConvertible {
    package var description: String
    package init(_ description: String) { self.description = description }
}
