import Foundation
import Logging
import TestSupport
import Testing

@testable import Operations

@Suite struct SluiceConfigurationTests {
    private func withFile<Result>(_ text: String, _ body: (String) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-\(UUID().uuidString).yaml")
        try text.write(to: url, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }

    @Test func withoutAnySourceTheDefaultsHold() async throws {
        try await expectEqual(SluiceConfiguration.load(environment: [:]), SluiceConfiguration())
    }

    @Test func flagsWinOverTheEnvironmentAndThatOverTheFile() async throws {
        let yaml = "amqp:\n  prefix: file\nslices: 3\ngateway:\n  port: 1\n"
        let settings = try await withFile(yaml) { file in
            try await SluiceConfiguration.load(
                overrides: ["gateway.port": "3"],
                environment: ["SLUICE_GATEWAY_PORT": "2", "SLUICE_AMQP_PREFIX": "environment"], file: file)
        }
        expectEqual(settings.gateway.port, 3)
        expectEqual(settings.prefix, "environment")
        expectEqual(settings.slices, 3)
    }

    @Test func everySettingCanComeFromTheEnvironment() async throws {
        let settings = try await SluiceConfiguration.load(environment: [
            "SLUICE_ADMIN_TOKEN_FILE": "/tmp/token", "SLUICE_COORDINATOR_TICK_SECONDS": "0.5",
            "SLUICE_LOG_LEVEL": "debug", "SLUICE_LOG_FORMAT": "JSON", "SLUICE_OPERATIONS_PORT": "0",
            "SLUICE_GATEWAY_PUBLIC_URL": "https://sync.example.org", "SLUICE_AMQP_URL": "amqps://u:p@mq/v",
            "SLUICE_WORKER_COMPACTION_VERSIONS": "50", "SLUICE_WORKER_COMPACTION_BYTES": "0",
            "SLUICE_GATEWAY_MAX_APP_SOCKETS": "100", "SLUICE_GATEWAY_REQUEST_SECONDS": "2.5",
        ])
        expectEqual(settings.adminTokenFile, "/tmp/token")
        expectEqual(settings.tickInterval, .milliseconds(500))
        expectTrue(settings.logLevel == .debug && settings.logFormat == .json)
        expectEqual(settings.operationsPort, 0)
        expectTrue(settings.compactionVersions == 50 && settings.compactionBytes == 0)
        expectEqual(settings.gatewayPublicURL, "https://sync.example.org")
        expectTrue(settings.gatewayMaxAppSockets == 100 && settings.requestDeadline == .milliseconds(2500))
        expectEqual(settings.amqpURL.revealed, "amqps://u:p@mq/v")
    }

    @Test(arguments: [
        ("SLUICE_GATEWAY_PORT", "70000"), ("SLUICE_GATEWAY_MAX_APP_SOCKETS", "0"), ("SLUICE_SLICES", "none"),
        ("SLUICE_LOG_LEVEL", "loud"),
        ("SLUICE_COORDINATOR_TICK_SECONDS", "-1"), ("SLUICE_AMQP_PREFIX", ""), ("SLUICE_SHUTDOWN_SECONDS", "nan"),
        ("SLUICE_WORKER_COMPACTION_VERSIONS", "1"),
    ])
    func aBadValueIsRefusedNamingTheSetting(name: String, value: String) async throws {
        let error = await #expect(throws: OperationsError.self) {
            try await SluiceConfiguration.load(environment: [name: value])
        }
        let key = try #require(error).message.split(separator: " ")[1].replacingOccurrences(of: ":", with: "")
        expectEqual(SluiceConfiguration.environmentName(key), name)
    }

    @Test func aFileThatIsNamedMustExist() async throws {
        let error = await #expect(throws: OperationsError.self) {
            try await SluiceConfiguration.load(environment: ["SLUICE_CONFIG": "/nowhere/sluice.yaml"])
        }
        expectEqual(error?.code, .unreadableFile)
    }

    @Test func anUnknownOverrideIsRefused() async throws {
        let error = await #expect(throws: OperationsError.self) {
            try await SluiceConfiguration.load(overrides: ["gatway.port": "1"], environment: [:])
        }
        expectEqual(error?.code, .unknownSetting)
    }

    @Test func aTokenThatCouldBeGuessedIsRefused() async throws {
        let short = String(repeating: "x", count: 31)
        let error = await #expect(throws: OperationsError.self) {
            try await SluiceConfiguration.load(environment: ["SLUICE_ADMIN_TOKEN": short])
        }
        expectEqual(error?.code, .invalidSetting)
        expectEqual(error?.description.contains("at least 32 bytes, found 31"), true)
        expectEqual(error?.description.contains(short), false)
    }

    @Test func descriptionsHoldNoSecrets() async throws {
        let settings = try await SluiceConfiguration.load(environment: [
            "SLUICE_AMQP_URL": "amqp://user:hunter2@mq/", "SLUICE_ADMIN_TOKEN": "hunter2-hunter2-hunter2-hunter2-x",
            "SLUICE_STORE_URL": "postgres://user:hunter2@db/sluice",
        ])
        var dumped = ""
        dump(settings, to: &dumped)
        for text in ["\(settings)", String(reflecting: settings), dumped] { expectTrue(!text.contains("hunter2")) }
        expectTrue("\(settings)".contains("store.url: postgres://<redacted>@db/sluice"))
        let inParameters = Secret("postgres://u@db/sluice?sslmode=require&password=hunter2")
        expectEqual(
            SluiceConfiguration.redactedURL(inParameters),
            "postgres://<redacted>@db/sluice?sslmode=require&password=<redacted>")
        expectTrue(!SluiceConfiguration.redactedURL(Secret("postgres://u:hunt?er2@db/sluice")).contains("er2"))
    }
}
