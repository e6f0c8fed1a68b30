import AMQP
import Foundation
import Operations
import TestSupport
import Testing

@testable import Inspection

@Suite struct ConfigurationDoctorTests {
    private func examine(
        _ change: (inout SluiceConfiguration) -> Void = { _ in }, environment: [String: String] = [:],
        file: String? = nil, url: String = "amqp://guest:guest@127.0.0.1/"
    ) throws -> [Diagnosis] {
        var configuration = SluiceConfiguration()
        configuration.adminToken = Secret("0123456789abcdef0123456789abcdef")
        change(&configuration)
        return ConfigurationDoctor(
            configuration: configuration, environment: environment, file: file, tokenFile: "/nowhere/admin-token"
        ).examine(broker: try AMQPConfiguration(url: url))
    }

    @Test func theDefaultsOnOneMachineAreWell() throws {
        try expectEqual(examine(environment: ["SLUICE_SLICES": "8", "HOME": "/"]).exitCode, 0)
    }

    @Test func aVariableThatNobodyReadsIsNamedWithTheLikelyOne() throws {
        let found = try examine(environment: ["SLUICE_SLICE": "8", "SLUICE_CONFIG": "x"])
        let warning = try #require(found.first { $0.level == .warning })
        expectTrue(warning.finding.contains("SLUICE_SLICE ") && warning.advice == "did you mean SLUICE_SLICES?")
        expectEqual(found.exitCode, 1)
    }

    @Test func aKeyThatNobodyReadsIsFoundInTheFile() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "gateway:\n  hots: 0.0.0.0\nslices: 4\nadmin:\n  token: abc\n".write(
            toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let found = try examine(file: file)
        expectTrue(found.contains { $0.finding.contains("gateway.hots") && $0.advice == "did you mean gateway.host?" })
        expectTrue(found.contains { $0.level == .fault && $0.finding.contains("can be read by others") })
        expectTrue(!found.contains { $0.finding.contains("abc") })
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try expectEqual(examine(file: file).exitCode, 1)
    }

    @Test func unsafeConfigurationsAreReported() throws {
        try expectEqual(examine(url: "amqp://guest:guest@broker.example.net/").exitCode, 2)
        try expectEqual(examine(url: "amqp://sluice:secret@broker.example.net/").exitCode, 1)
        try expectEqual(examine { $0.adminToken = Secret("") }.exitCode, 1)
        try expectEqual(examine { $0.adminToken = Secret("short") }.exitCode, 2)
        try expectEqual(
            examine {
                $0.adminToken = Secret("")
                $0.coordinator.host = "0.0.0.0"
            }.exitCode, 2)
        try expectEqual(examine { $0.gatewayPublicURL = "http://sync.example.net" }.exitCode, 1)
        try expectEqual(examine { $0.gatewayPublicURL = "https://sync.example.net" }.exitCode, 0)
    }

    @Test func nothingSecretIsRepeated() throws {
        let found = try examine({ $0.adminToken = Secret("hunter2") }, url: "amqp://sluice:hunter3@broker.example.net/")
        expectTrue(!found.contains { "\($0)".contains("hunter") })
    }
}
