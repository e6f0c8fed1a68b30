import Foundation
import TestSupport
import Testing

/// Programs of an app's documentation, written for Realm Swift, compile against the SDK as they stand.
@Suite(.hangGuard)
struct SnippetTests {
    @Test(arguments: [("5", "DeviceSync"), ("6", "DeviceSync"), ("6", "RealmSwift")])
    func everySnippetOfTheDocumentationCompiles(mode: String, module: String) async throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let build = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let process = Process()
        process.executableURL = package.appendingPathComponent("Tests/snippets")
        process.arguments = ["--modes", mode, "--build", build.path, "--import", module]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = await onThread { String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) }
        process.waitUntilExit()
        expectEqual(process.terminationStatus, 0, "\(text)")
        expectEqual(text.split(separator: "\n").count { $0.contains("compiles") }, 22, "\(text)")
    }
}
