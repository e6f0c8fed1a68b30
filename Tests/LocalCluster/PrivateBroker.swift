import Foundation

/// The run's own RabbitMQ, through the script that starts one for tests.
package struct PrivateBroker: Sendable {
    package let script: String
    package let folder: String

    /// What becomes the script where it must run elsewhere, such as on a host of a machine room.
    private let prefix: [String]
    private let options: [String]

    /// - Parameter options: of the script's `start`.
    package init(script: String, folder: String, through prefix: [String] = [], options: [String] = []) {
        self.script = script
        self.folder = folder
        self.prefix = prefix
        self.options = options
    }

    /// Starts it, or starts it again on its data, on the ports that it had.
    package func start() async throws -> String {
        let lines = try await run("start", options)
        guard let url = lines.split(separator: "\n").first(where: { $0.hasPrefix("AMQP_URL=") })?.dropFirst(9) else {
            throw LocalClusterError("\(script) start printed no AMQP_URL: \(lines.prefix(300))")
        }
        return String(url)
    }

    package func stop() async throws { _ = try await run("stop") }
    package func kill() async throws { _ = try await run("stop", "--kill") }
    package func control(_ arguments: String...) async throws { _ = try await run("ctl", arguments) }

    package func queuesThatAreDown() async throws -> [String] {
        try await run("ctl", "list_queues", "--silent", "name", "state").split(separator: "\n").compactMap { line in
            let columns = line.split(separator: "\t")
            return columns.last == "down" ? columns.first.map(String.init) : nil
        }
    }

    private func run(_ command: String, _ arguments: String...) async throws -> String {
        try await run(command, arguments)
    }

    private func run(_ command: String, _ arguments: [String]) async throws -> String {
        let command = prefix + [script, command, folder] + arguments
        return try await Program.run(
            command[0], Array(command.dropFirst()), environment: ProcessInfo.processInfo.environment, called: "broker")
    }
}

extension PrivateBroker {
    /// The process of the Erlang virtual machine that the broker is; nil if none runs.
    package var nodeProcess: Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.first { pid in
            guard
                (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8))?.hasPrefix("beam") == true,
                let environment = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ"))
            else { return false }
            return environment.split(separator: 0).contains(Data("SLUICE_BROKER_HOME=\(folder)".utf8))
        }
    }
}
