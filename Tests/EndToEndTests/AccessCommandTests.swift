import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// An operator's commands on who may do what.
    @Suite struct AccessCommandTests {
        private struct Key: Decodable { var verifiesUntil: UInt64? }
        private struct Audit: Decodable {
            struct Entry: Decodable {
                var token: String
                var path: String
                /// Nil while the request is under way: other suites change their apps meanwhile.
                var status: Int?
            }
            var entries: [Entry]
        }

        @Test func tokensKeysAndLoginsAreLookedAfter() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--rules", "own")
            let token = try await cluster.operate("admin", "tokens", "create", "ci", "--role", "read")
                .trimmingCharacters(in: .whitespacesAndNewlines)
            expectEqual(token.utf8.count, 64)
            func asReader(_ arguments: String...) async throws -> String {
                try await cluster.shell("env", ["SLUICE_ADMIN_TOKEN=\(token)", cluster.sluice] + arguments)
            }
            try await expectTrue(asReader("apps", "list").contains(cluster.app))
            try await expectTrue(!cluster.operate("admin", "tokens", "list").contains(token))
            let refused = await #expect(throws: LocalClusterError.self) {
                _ = try await asReader("apps", "create", "another")
            }
            let complaint = refused.map { "\($0)" } ?? ""
            expectTrue(complaint.contains("exited with 77") && complaint.contains("needs the role operate"))
            let short = await #expect(throws: LocalClusterError.self) {
                _ = try await cluster.shell("env", ["SLUICE_ADMIN_TOKEN=short", cluster.sluice, "apps", "list"])
            }
            expectEqual(short.map { "\($0)" }?.contains("exited with 65"), true)

            try await cluster.operate("keys", "rotate")
            let keys = try await cluster.operateJSON([Key].self, "keys", "list")
            expectTrue(keys.count == 4 && keys.count { $0.verifiesUntil == nil } == 2)

            let file = cluster.file("jwt.json")
            try #"{"issuer":"https://a/","jwksURL":"http://b/","algorithms":["RS256"]}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            let unsafe = await #expect(throws: LocalClusterError.self) {
                try await cluster.operate("logins", "set", cluster.app, "custom-token", "--file", file)
            }
            expectEqual(unsafe.map { "\($0)" }?.contains("jwksURL: expected https"), true)
            try #"{"issuer":"https://a/","jwksURL":"https://b/","algorithms":["RS256"]}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            try await cluster.operate("logins", "set", cluster.app, "custom-token", "--file", file)
            try await expectTrue(cluster.operate("logins", "show", cluster.app).contains("issuer https://a/"))
            // What cannot be undone says what it is about, and is done by nobody who only pressed return.
            for (command, name, words) in [
                (["logins", "remove", cluster.app, "custom-token"], cluster.app, "custom-token with its settings"),
                (["admin", "tokens", "revoke", "ci"], "ci", "role read, made by bootstrap"),
                (["users", "revoke", cluster.app, "--all"], cluster.app, "all users of app \(cluster.app) (0 users)"),
                (["resets", "allow", cluster.app], cluster.app, "0 clients of app \(cluster.app)"),
            ] {
                let unsure = await #expect(throws: LocalClusterError.self) { try await cluster.operate(command) }
                let said = unsure.map { "\($0)" } ?? ""
                expectTrue(said.contains("exited with 65") && said.contains(words) && said.contains("--yes"), "\(said)")
                try await expectTrue(!cluster.operate(command + ["--dry-run"]).isEmpty)
                expectTrue(said.contains(name))
            }
            try await expectTrue(cluster.operate("logins", "show", cluster.app).contains("issuer https://a/"))
            try await expectTrue(asReader("apps", "list").contains(cluster.app))
            try await cluster.operate("logins", "remove", cluster.app, "custom-token", "--yes")
            try await expectTrue(!cluster.operate("logins", "show", cluster.app).contains("https://a/"))

            try await cluster.operate("admin", "tokens", "revoke", "ci", "--yes")
            await #expect(throws: LocalClusterError.self) { _ = try await asReader("apps", "list") }
            let audit = try await cluster.operateJSON(Audit.self, "audit", "--limit", "1000").entries
            expectTrue(audit.contains { $0.path.hasSuffix("/tokens/ci") && $0.status == 204 })
            expectTrue(audit.contains { $0.token == "ci" && $0.status == 403 })
        }
    }
}
