import AMQP
import Foundation
import Messages
import Operations
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct AdminTokenTests {
    private func configuration(token: String = "", host: String = "127.0.0.1", file: String? = nil) throws
        -> CoordinatorConfiguration
    {
        CoordinatorConfiguration(
            id: "c", host: host, port: 0, adminToken: Secret(token), adminTokenFile: file,
            amqp: try AMQPConfiguration(url: "amqp://127.0.0.1"), slices: try #require(SliceCount(1)))
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("sluice-token-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }

    @Test func anEmptyTokenIsRefusedWhereOthersCanReachIt() throws {
        for host in ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.org", ""] {
            let error = #expect(throws: CoordinatorError.self) {
                try AdminToken.resolve(configuration(host: host, file: "/tmp/never"))
            }
            expectEqual(error?.code, .noAdminToken)
        }
        #expect(throws: CoordinatorError.self) { try AdminToken.resolve(configuration()) }
    }

    @Test func aTokenIsMadeUpOnceAndKeptFromOthers() throws {
        try withFolder { folder in
            let path = "\(folder)/token"
            _ = try AdminToken.resolve(configuration(file: path))
            let token = try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .newlines)
            expectEqual(token.count, 64)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            expectEqual(mode, 0o600)
            try expectTrue(AdminToken.resolve(configuration(file: path)).matches(token))
            try expectEqual(FileManager.default.contentsOfDirectory(atPath: folder), ["token"])
        }
    }

    @Test func aTokenFileThatOthersCanReadIsRefused() throws {
        try withFolder { folder in
            let path = "\(folder)/token"
            try "0123456789abcdef0123".write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
            let error = #expect(throws: CoordinatorError.self) {
                try AdminToken.resolve(configuration(file: path))
            }
            expectEqual(error?.code, .tokenFile)
        }
    }

    @Test func onlyTheSameTokenMatches() throws {
        let right = "right-right-right-right-right-right"
        let token = try AdminToken.resolve(configuration(token: right, host: "0.0.0.0"))
        expectTrue(token.matches(right))
        for wrong in ["", String(right.dropLast()), right + " ", right.uppercased(), right + right] {
            expectTrue(!token.matches(wrong))
        }
    }

    @Test func aTokenThatCouldBeGuessedIsRefused() throws {
        let short = String(repeating: "x", count: 31)
        let error = #expect(throws: CoordinatorError.self) { try AdminToken.resolve(configuration(token: short)) }
        expectEqual(error?.description.contains("31 bytes, expected at least 32"), true)
        expectEqual(error?.description.contains(short), false)
        try withFolder { folder in
            let path = "\(folder)/token"
            try short.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let error = #expect(throws: CoordinatorError.self) {
                try AdminToken.resolve(configuration(file: path))
            }
            expectEqual(error?.code, .tokenFile)
        }
    }
}
