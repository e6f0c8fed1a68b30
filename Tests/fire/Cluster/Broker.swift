import Foundation
import LocalCluster

/// The run's own RabbitMQ, through the script that starts one for tests.
struct Broker: Sendable {
    let script: String
    let folder: String

    /// Starts it, or starts it again on its data, on the ports that it had.
    func start() async throws -> String {
        let lines = try await run("start")
        guard let url = lines.split(separator: "\n").first(where: { $0.hasPrefix("AMQP_URL=") })?.dropFirst(9) else {
            throw LocalClusterError("\(script) start printed no AMQP_URL: \(lines.prefix(300))")
        }
        return String(url)
    }

    func stop() async throws { _ = try await run("stop") }
    func kill() async throws { _ = try await run("stop", "--kill") }
    func control(_ arguments: String...) async throws { _ = try await run("ctl", arguments) }

    func queuesThatAreDown() async throws -> [String] {
        try await run("ctl", "list_queues", "--silent", "name", "state").split(separator: "\n").compactMap { line in
            let columns = line.split(separator: "\t")
            return columns.last == "down" ? columns.first.map(String.init) : nil
        }
    }

    private func run(_ command: String, _ arguments: String...) async throws -> String {
        try await run(command, arguments)
    }

    private func run(_ command: String, _ arguments: [String]) async throws -> String {
        try await LocalCluster.run(
            script, [command, folder] + arguments, environment: ProcessInfo.processInfo.environment, called: "broker")
    }
}
