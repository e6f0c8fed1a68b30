import ArgumentParser
import DeviceSync
import Foundation
import LocalCluster

/// A client realm of the demo: an ordinary app of the SDK that takes its orders from standard input.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "client", shouldDisplay: false)

    @Option var baseURL: String
    @Option var app: String
    @Option var mode: String
    @Option var folder: String
    @Option var name: String

    func run() async throws {
        guard let mode = ClientRealm.Mode(rawValue: mode) else { throw ValidationError("unknown mode \(mode)") }
        let client = ClientRealm(name: name, baseURL: baseURL, app: app, mode: mode, folder: folder)
        let lines = LineReader(.standardInput)
        while let line = await lines.next() {
            var answer = ClientAnswer()
            do {
                let command = try JSONDecoder().decode(ClientCommandLine.self, from: Data(line.utf8))
                answer = try await client.perform(command)
            } catch {
                answer.error = "\(error)"
            }
            try FileHandle.standardOutput.write(contentsOf: Data((try answer.json() + "\n").utf8))
        }
    }
}
