import AdminAPI
import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@testable import Coordinator

/// The rights to use the admin API, and the record of who has done what.
@Suite(.needsBroker, .hangGuard) struct AdminAccessTests {
    private static func token(
        _ role: String, called name: String, _ coordinator: RunningCoordinator
    ) async throws -> String {
        let made = try await coordinator.request("POST", "tokens", #"{"name":"\#(name)","role":"\#(role)"}"#)
        expectTrue(made.status == 201 && made["role"] == role && made["createdBy"] == "bootstrap")
        return try #require(made["token"])
    }

    private static func audit(_ coordinator: RunningCoordinator, _ query: String = "") async throws -> AuditList {
        let answer = try await coordinator.request("GET", "audit\(query)")
        return try JSONDecoder().decode(AuditList.self, from: Data(answer.text.utf8))
    }

    @Test func aTokenMayDoWhatItsRoleMay() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let tokens = [
                    "read": try await Self.token("read", called: "looker", coordinator),
                    "operate": try await Self.token("operate", called: "doer", coordinator),
                    "own": try await Self.token("own", called: "owner", coordinator),
                ]
                expectEqual(Set(tokens.values.map(\.utf8.count)), [64])
                let requests: [(String, String, String?, Set<String>)] = [
                    ("GET", "apps", nil, ["read", "operate", "own"]),
                    ("GET", "audit", nil, ["read", "operate", "own"]),
                    ("GET", "keys", nil, ["read", "operate", "own"]),
                    ("POST", "apps", #"{"id":"tasks"}"#, ["operate", "own"]),
                    ("PATCH", "apps/tasks", "{}", ["operate", "own"]),
                    ("POST", "keys/rotate", #"{"purpose":"access"}"#, ["own"]), ("GET", "tokens", nil, ["own"]),
                    ("POST", "tokens", #"{"name":"other","role":"read"}"#, ["own"]),
                    ("DELETE", "tokens/other", nil, ["own"]),
                ]
                for (method, path, body, roles) in requests {
                    for role in ["read", "operate", "own"] {
                        let answer = try await coordinator.request(method, path, body, token: tokens[role])
                        expectEqual((answer.status != 403), roles.contains(role), "\(method) \(path) as \(role)")
                        guard answer.status == 403 else { continue }
                        expectEqual(answer["error"], "forbidden")
                        expectEqual(answer["message"]?.contains("has \(role)"), true, "\(answer.text)")
                    }
                }
            }
        }
    }

    @Test func aRevokedTokenOpensNothingAnywhere() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { first in
                let token = try await Self.token("operate", called: "ci", first)
                let again = try await first.request("POST", "tokens", #"{"name":"ci","role":"read"}"#)
                expectTrue(again.status == 409 && again["error"] == "already_exists")
                try await harness.withCoordinator("c2") { second in
                    try await expectEqual(second.request("GET", "apps", token: token).status, 200)
                    try await expectEqual(first.request("DELETE", "tokens/ci").status, 204)
                    let refused = try await second.request("GET", "apps", token: token)
                    expectTrue(refused.status == 401 && refused["message"]?.contains("was revoked") == true)
                }
                let missing = try await first.request("GET", "apps", token: nil)
                expectTrue(missing.status == 401 && missing["message"]?.contains("send an admin token") == true)
                try await expectEqual(first.request("DELETE", "tokens/ci").status, 404)
                try await expectEqual(first.request("DELETE", "tokens/bootstrap").status, 409)
                for body in [
                    #"{"name":"bootstrap","role":"read"}"#, #"{"name":"A","role":"read"}"#,
                    #"{"name":"a","role":"root"}"#, #"{"name":"a"}"#, #"{"name":"","role":"read"}"#,
                ] { try await expectEqual(first.request("POST", "tokens", body).status, 400, "\(body)") }
            }
        }
    }

    @Test func changesAreAuditedWithoutSecrets() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let token = try await Self.token("operate", called: "ci", coordinator)
                let looker = try await Self.token("read", called: "looker", coordinator)
                _ = try await coordinator.request("POST", "apps", #"{"id":"tasks","maxOfflineDays":3}"#, token: token)
                _ = try await coordinator.request("GET", "apps", token: token)
                _ = try await coordinator.request("PATCH", "apps/none", #"{"clientRecovery":false}"#, token: token)
                _ = try await coordinator.request("POST", "apps/tasks/sync/pause", token: looker)
                _ = try await coordinator.request("POST", "apps", #"{"id":"x","secret":"s3cret"}"#, token: token)
                _ = try await coordinator.request("POST", "apps", #"{"id":"x"}"#, token: "wrong")

                let all = try await Self.audit(coordinator).entries
                let seen = all.prefix(4).map {
                    [$0.token, $0.role.rawValue, $0.method, $0.path, $0.details ?? "", "\($0.status ?? 0)"]
                }
                let base = "/api/admin/v1/apps"
                expectEqual(
                    seen,
                    [
                        ["ci", "operate", "POST", base, "", "400"],
                        ["looker", "read", "POST", "\(base)/tasks/sync/pause", "", "403"],
                        ["ci", "operate", "PATCH", "\(base)/none", "clientRecovery=false", "404"],
                        ["ci", "operate", "POST", base, #"id="tasks", maxOfflineDays=3"#, "201"],
                    ])
                expectTrue(all.count == 6 && all.allSatisfy { $0.at > 1_700_000_000_000 && $0.dryRun == nil })
                expectTrue(all.allSatisfy { $0.address == "127.0.0.1" || $0.address == "::1" }, "\(all)")
                expectEqual(all.last?.details, #"name="ci", role="operate""#)

                let page = try await Self.audit(coordinator, "?limit=4")
                expectEqual(page.entries, Array(all.prefix(4)))
                let rest = try await Self.audit(coordinator, "?limit=4&after=\(try #require(page.next))")
                expectTrue(rest.entries == Array(all.dropFirst(4)) && rest.next == nil)
                try await expectEqual(coordinator.request("GET", "audit?after=x").status, 400)

                let stored = try FileManager.default.contentsOfDirectory(atPath: harness.folder)
                    .filter { $0.hasPrefix("control") }
                    .map {
                        String(decoding: try Data(contentsOf: URL(filePath: "\(harness.folder)/\($0)")), as: UTF8.self)
                    }
                expectTrue(!stored.isEmpty && stored.contains { $0.contains("looker") })
                for secret in [token, looker, CoordinatorHarness.token, "s3cret"] {
                    expectTrue(!stored.contains { $0.contains(secret) })
                }
            }
        }
    }
}
