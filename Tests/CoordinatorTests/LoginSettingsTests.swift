import Foundation
import Storage
import TestSupport
import Testing

@testable import Coordinator

/// How an app's users log in, as the admin API takes and shows it.
@Suite(.needsBroker, .hangGuard) struct LoginSettingsTests {
    private static let secret = "a secret that both know, of 32 bytes or more"

    @Test func nobodyIsToldASecretAgain() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator(tick: .seconds(3600)) { coordinator in
                let settings = #"{"issuer":"https://a/","algorithms":["HS256"],"secret":"\#(Self.secret)"}"#
                let set = try await coordinator.request("PUT", "apps/tasks/logins/custom-token", settings)
                let shown = try await coordinator.request("GET", "apps/tasks/logins")
                for answer in [set, shown] {
                    expectTrue(answer.status == 200 && answer["custom-token.issuer"] == "https://a/")
                    expectTrue(!answer.text.contains(Self.secret))
                }
                let stored = try #require(try await harness.store.loginSettings(app: "tasks", provider: "custom-token"))
                try expectEqual(JSONDecoder().decode(TokenLoginSettings.self, from: stored).secret, Self.secret)
                let audit = try await coordinator.request("GET", "audit")
                expectTrue(audit.text.contains("secret") && !audit.text.contains(Self.secret))
            }
        }
    }

    @Test func eachWayToLogInIsTurnedOnAndOff() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator(tick: .seconds(3600)) { coordinator in
                let bodies = [
                    "api-key": "{}", "local-userpass": #"{"confirmURL":"https://a/"}"#,
                    "custom-token":
                        #"{"issuer":"i","algorithms":["ES256"],"jwksURL":"https://a/","metadata":[{"claim":"a","field":"name"}]}"#,
                ]
                for (provider, body) in bodies {
                    let path = "apps/tasks/logins/\(provider)"
                    try await expectEqual(coordinator.request("PUT", path, body).status, 200)
                    try await expectEqual(coordinator.request("DELETE", path).status, 200)
                }
                let left = try await coordinator.request("GET", "apps/tasks/logins")
                expectEqual(left.text, "{\"api-key\":false}\n")
                try await expectEqual(coordinator.request("PUT", "apps/tasks/logins/passkey").status, 404)
                try await expectEqual(coordinator.request("PUT", "apps/none/logins/api-key").status, 404)
                try await expectEqual(coordinator.request("PUT", "apps/tasks/logins/custom-token", "{}").status, 400)
            }
        }
    }
}
