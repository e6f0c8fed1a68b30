package import Foundation

/// A child process whose standard error goes to a log file.
package final class ManagedProcess: Sendable {
    package let name: String
    package let process: Process

    package init(
        name: String, executable: String, arguments: [String], environment: [String: String], logFolder: String,
        input: Pipe? = nil, output: Pipe? = nil
    ) throws {
        self.name = name
        process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = environment
        try FileManager.default.createDirectory(atPath: logFolder, withIntermediateDirectories: true)
        let log = "\(logFolder)/\(name).log"
        // A process that is started again goes on in the log of the one before it.
        if !FileManager.default.fileExists(atPath: log) {
            _ = FileManager.default.createFile(atPath: log, contents: nil)
        }
        guard let handle = FileHandle(forWritingAtPath: log) else { throw LocalClusterError("cannot write \(log)") }
        _ = try handle.seekToEnd()
        process.standardError = handle
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = output ?? handle
        try process.run()
    }

    package var pid: Int32 { process.processIdentifier }

    package var isRunning: Bool { process.isRunning }

    /// SIGSTOP: the process stands still, and its sockets stay open.
    package func pause() { if process.isRunning { _ = Foundation.kill(pid, SIGSTOP) } }
    package func resume() { if process.isRunning { _ = Foundation.kill(pid, SIGCONT) } }

    package func kill() { if process.isRunning { _ = Foundation.kill(pid, SIGKILL) } }
    package func terminate() { if process.isRunning { process.terminate() } }

    /// Waits for the end; kills what has not ended by then.
    package func wait(upTo limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        while process.isRunning, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(50)) }
        kill()
    }
}

/// Why the cluster or a process of it did not do what was asked.
package struct LocalClusterError: Error, CustomStringConvertible {
    package var description: String
    package init(_ description: String) { self.description = description }
}
