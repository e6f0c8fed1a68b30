import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// Rules and users at the shell, against a real cluster.
    @Suite struct RulesCommandTests {
        private struct App: Decodable {
            var rulesVersion: UInt64
            var access: String
        }

        private struct Rules: Decodable {
            struct Finding: Decodable {
                var path: String
                var code: String
            }

            var version: UInt64?
            var summary: String?
            var findings: [Finding]?
        }

        private struct Explanation: Decodable {
            struct Partition: Decodable { var rights: String }

            var partition: Partition
        }

        private struct UserPage: Decodable {
            struct User: Decodable {
                var id: String
                var isDisabled: Bool
            }

            var users: [User]
            var next: String?
        }

        /// What a command that must fail says, with its exit code.
        private func complaint(_ cluster: LocalCluster, _ arguments: String...) async -> String {
            do {
                return "did not fail: \(try await cluster.operate(arguments))"
            } catch {
                return "\(error)"
            }
        }

        /// An export in a folder, and what a command makes of it, is the same in a zip file.
        @Test func anExportBecomesTheRulesOfAFlexibleApp() async throws {
            let cluster = try SharedCluster.cluster
            let folder = "\(cluster.folder)/export"
            func write(_ path: String, _ text: String) throws {
                let file = URL(filePath: "\(folder)/\(path)")
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try text.write(to: file, atomically: true, encoding: .utf8)
            }
            func roles(_ write: String) -> String {
                #"{"roles":[{"name":"r","apply_when":{},"document_filters":{"read":true,"write":\#(write)},"read":true,"write":true}]}"#
            }
            try write(
                "sync/config.json", #"{"type":"flexible","service_name":"db","queryable_fields_names":["owner_id"]}"#)
            for (database, filter) in [("live", #"{"owner_id":"%%user.id"}"#), ("test", "true")] {
                try write("data_sources/db/\(database)/Item/rules.json", roles(filter))
                try write("data_sources/db/\(database)/Item/schema.json", #"{"title":"Item","properties":{"_id":{}}}"#)
            }
            let asked = await complaint(cluster, "rules", "import", folder)
            expectTrue(asked.contains("--database") && asked.contains("exited with 65"), "\(asked)")
            let document = try await cluster.operate("rules", "import", folder, "--database", "live")
            try document.write(toFile: "\(cluster.folder)/rules.json", atomically: true, encoding: .utf8)
            let app = cluster.app
            let made = try await cluster.operate(
                "apps", "create", app, "--sync-mode", "flexible", "--rules", "\(cluster.folder)/rules.json")
            expectTrue(
                made.contains(#"nobody may read or write but where class "Item" has roles of its own"#), "\(made)")
            expectTrue(made.contains("a user is anybody, without an account"))
            let shown = try await cluster.operateJSON(App.self, "apps", "show", app)
            expectTrue(shown.rulesVersion == 1 && made.contains(shown.access))
            await expectTrue(
                complaint(cluster, "rules", "import", "/dev/null").contains("neither a folder nor a zip file"))
        }

        @Test func rulesAreSetShownCheckedAndExplained() async throws {
            let cluster = try SharedCluster.cluster
            let app = cluster.app
            let created = try await cluster.operate("apps", "create", app)
            expectTrue(created.contains("nobody may read or write: the app has no rules yet"))
            try await expectTrue(cluster.operate("rules", "show", app).contains("version 0"))

            let file = cluster.file("rules.json")
            try #"{"partition": {"read": {"%%user.name": 1}, "write": {"$xor": []}}}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            let refused = await complaint(cluster, "rules", "set", app, file)
            expectTrue(refused.contains("exited with 65"), "\(refused)")
            expectTrue(refused.contains("/partition/read/%%user.name") && refused.contains("/partition/write/$xor"))
            let checked = await complaint(cluster, "rules", "check", app, file)
            expectTrue(checked.contains("exited with 65"))
            await expectTrue(complaint(cluster, "rules", "set", app, "no-such-file").contains("neither one of"))
            try await expectEqual(cluster.operateJSON(Rules.self, "rules", "show", app).version, 0)

            let set = try await cluster.operateJSON(Rules.self, "rules", "set", app, "own")
            expectTrue(set.version == 1 && set.findings?.isEmpty == true)
            await expectTrue(
                complaint(cluster, "rules", "set", app, "open", "--replaces", "0").contains("somebody else"))
            try #"{"partition": {"read": true, "write": {"%%user.custom_data.writes": "%%partition"}}}"#.write(
                toFile: file, atomically: true, encoding: .utf8)
            try await cluster.operate("rules", "check", app, file)
            try await cluster.operate("rules", "set", app, file, "--replaces", "1")
            try await expectTrue(cluster.operate("rules", "history", app).contains("bootstrap"))
            try await expectTrue(cluster.operate("rules", "show", app, "--version", "1").contains("%%user.id"))
            let shown = try await cluster.operateJSON(App.self, "apps", "show", app)
            expectTrue(shown.rulesVersion == 2 && shown.access.contains("rules of the app's own"))

            let users = [try await StockUser(cluster).id, try await StockUser(cluster).id]
            let page = try await cluster.operateJSON(UserPage.self, "users", "list", app, "--limit", "1")
            let user = try #require(page.users.first?.id)
            let rest = try await cluster.operateJSON(
                UserPage.self, "users", "list", app, "--after", try #require(page.next))
            expectTrue(Set(rest.users.map(\.id) + [user]) == Set(users) && rest.users.count == 1)

            func rights() async throws -> String {
                try await cluster.operateJSON(
                    Explanation.self, "rules", "explain", app, "--user", user, "--partition", "red"
                ).partition.rights
            }
            try await expectEqual(rights(), "read")
            let text = try await cluster.operate("rules", "explain", app, "--user", user, "--partition", "red")
            expectTrue(text.contains("unknown") && text.contains("unset"), "\(text)")
            try await cluster.operate("users", "custom-data", app, user, #"{"writes": ["red"]}"#)
            try await expectEqual(rights(), "readWrite")
            try await expectTrue(cluster.operate("users", "show", app, user).contains(#"{"writes":["red"]}"#))
            try await cluster.operate("users", "custom-data", app, user, "--clear")
            try await expectEqual(rights(), "read")

            try await cluster.operate("users", "disable", app, user)
            try await expectTrue(cluster.operate("users", "show", app, user).contains("disabled"))
            try await expectTrue(
                cluster.operate("rules", "explain", app, "--user", user, "--partition", "red").contains(
                    "disabled"))
            try await cluster.operate("users", "enable", app, user)
            try await expectTrue(cluster.operate("users", "revoke", app, user).contains("1 login revoked"))
            try await expectTrue(cluster.operate("users", "revoke", app, "--all", "--yes").contains("1 login revoked"))
            await expectTrue(complaint(cluster, "users", "delete", app, user).contains("--yes"))
            try await cluster.operate("users", "delete", app, user, "--yes")
            await expectTrue(complaint(cluster, "users", "show", app, user).contains("exited with 66"))
        }
    }
}
