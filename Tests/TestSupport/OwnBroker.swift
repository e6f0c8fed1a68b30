import Foundation
package import Testing

/// Gives a suite a broker of its own, which it may configure, restart and drive into an alarm without hurting others.
package struct OwnBroker: SuiteTrait, TestScoping {
    let options: [String]

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "brk-\(UInt32.random(in: 0 ... .max))").path
        let printed = try await TestBroker.run(["start", folder] + options)
        var environment: [String: String] = [:]
        for line in printed.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            environment[String(parts[0])] = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "'"))
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await TestBroker.$own.withValue(environment, operation: function))
        } catch {
            result = .failure(error)
        }
        _ = try await TestBroker.run(["stop", folder, "--kill"])
        try? FileManager.default.removeItem(atPath: folder)
        try result.get()
    }
}

extension Trait where Self == OwnBroker {
    /// A broker for this suite alone, started with these options of `Tests/broker start`.
    package static func ownBroker(_ options: String...) -> Self { OwnBroker(options: options) }
}
