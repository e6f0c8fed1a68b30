import Foundation
import Logging
import TestSupport
import Testing

@testable import Operations

@Suite struct SettingNamesTests {
    @Test func unknownSettingsAreNamedWithTheNearest() throws {
        let environment = [
            "SLUICE_SLICE": "8", "SLUICE_SLICES": "8", "SLUICE_CONFIG": "x", "HOME": "/", "SLUICE_FROBNICATION": "1",
            "SLUICE_TEST_AMQP_URL": "x", "SLUICE_VECTORS": "y",
        ]
        let found = try SettingNames.unknown(in: environment, file: nil)
        expectEqual(found.map(\.name), ["SLUICE_FROBNICATION", "SLUICE_SLICE"])
        expectEqual(found.map(\.nearest), [nil, "SLUICE_SLICES"])
        expectEqual(found[1].description, "SLUICE_SLICE is no setting: did you mean SLUICE_SLICES?")
    }

    @Test func keysOfAFileAreLookedAtToo() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "gateway:\n  hots: 0.0.0.0\nslices: 4\n".write(toFile: file, atomically: true, encoding: .utf8)
        let found = try SettingNames.unknown(in: [:], file: file)
        expectEqual(found.map(\.description), ["gateway.hots in \(file) is no setting: did you mean gateway.host?"])
        let missing = #expect(throws: OperationsError.self) {
            _ = try SettingNames.unknown(in: [:], file: "/nowhere/x.yaml")
        }
        expectEqual(missing?.code, .unreadableFile)
    }

    @Test func aPortThatIsTakenIsNamedWithItsSetting() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let first = OperationsService(
            host: "127.0.0.1", port: 0, readiness: Readiness(), metrics: nil, logger: logger)
        let running = Task { try await first.run() }
        defer { running.cancel() }
        let port = try await first.boundPort.value()
        let second = OperationsService(
            host: "127.0.0.1", port: port, readiness: Readiness(), metrics: nil, logger: logger)
        let error = await #expect(throws: OperationsError.self) { try await second.run() }
        expectEqual(error?.code, .cannotListen)
        expectEqual(error?.message.contains("127.0.0.1:\(port)"), true)
        expectEqual(error?.message.contains("SLUICE_OPERATIONS_PORT"), true)
    }
}
