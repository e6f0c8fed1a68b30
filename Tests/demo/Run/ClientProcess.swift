import Foundation
import LocalCluster
import SystemPackage

/// One client realm in a process of its own, driven by JSON lines: a command in, an answer out.
actor ClientProcess {
    nonisolated let name: String
    nonisolated let mode: String
    private let process: ManagedProcess
    private let input: FileHandle

    init(name: String, mode: String, cluster: LocalCluster) async throws {
        self.name = name
        self.mode = mode
        let input = try FileDescriptor.pipe()
        let output = try FileDescriptor.pipe()
        self.input = FileHandle(fileDescriptor: input.writeEnd.rawValue, closeOnDealloc: true)
        lines = LineReader(FileHandle(fileDescriptor: output.readEnd.rawValue, closeOnDealloc: true))
        process = try await ManagedProcess.start(
            name: name, executable: ProcessInfo.processInfo.arguments[0].absolutePath,
            arguments: [
                "client", "--base-url", cluster.gatewayURL, "--app", DemoSchema.app, "--mode", mode, "--folder",
                "\(cluster.folder)/clients/\(name)", "--name", name,
            ],
            environment: cluster.environment, logFolder: cluster.folder + "/logs", input: input.readEnd,
            output: output.writeEnd)
    }

    private let lines: LineReader

    nonisolated var pid: Int32 { process.pid }

    /// Sends a command and waits for its answer; the client answers in order.
    @discardableResult
    func ask(_ command: ClientCommandLine) async throws -> ClientAnswer {
        // A client that is dead takes no command and gives no answer.
        try? input.write(contentsOf: Data((try command.json() + "\n").utf8))
        guard let line = await lines.next() else {
            throw LocalClusterError("client \(name) died before it answered \(command.action.rawValue)")
        }
        let answer = try JSONDecoder().decode(ClientAnswer.self, from: Data(line.utf8))
        if let error = answer.error { throw LocalClusterError("client \(name), \(command.action.rawValue): \(error)") }
        return answer
    }

    func kill() { process.kill() }

    func stop() async {
        try? input.close()
        await process.wait(upTo: .seconds(10))
    }
}
