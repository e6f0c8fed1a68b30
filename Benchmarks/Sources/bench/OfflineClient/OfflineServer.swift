import ArgumentParser
import Foundation

/// The other process of `offline-client`: prints its port, then answers one line for each line read.
struct OfflineServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "offline-server", shouldDisplay: false)

    @Argument var baseObjects: Int
    @Argument var remoteChanges: Int

    func run() async throws {
        let server = try ScriptedServer(
            OfflineWorkload(baseObjects: baseObjects, localWrites: 0, remoteChanges: remoteChanges))
        say("\(try await server.start())")
        while let line = readLine() {
            say(try await server.group.next().submit { try server.command(line) }.get())
        }
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
