import AMQP
import Messages
import Rules
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// Rules and users through the admin API.
@Suite(.needsBroker, .hangGuard) struct RulesAPITests {
    @Test func aNewAppOpensNothingUnlessTold() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let shut = try await coordinator.request("POST", "apps", #"{"id":"shut","developmentMode":true}"#)
                expectTrue(shut.status == 201 && shut["rulesVersion"] == "0")
                expectEqual(shut["access"], "nobody may read or write: the app has no rules yet")
                let open = try await coordinator.request("POST", "apps", #"{"id":"open","rules":"open"}"#)
                let anybody =
                    "; a user is anybody, without an account, or whoever registers with an e-mail address, which nobody confirms"
                expectTrue(
                    open["rulesVersion"] == "1"
                        && open["access"] == "every user may read and write every partition" + anybody)
                let flexible = try await coordinator.request(
                    "POST", "apps",
                    #"{"id":"flex","syncMode":"flexible","rules":"open","anonymousLogin":false,"emailPasswordLogin":false}"#
                )
                expectEqual(
                    flexible["access"],
                    "every user may read and write every object; nobody can become a user: all logins are off")
                let own = try await coordinator.request(
                    "POST", "apps",
                    #"{"id":"own","onReadDenied":"delete","onWriteDenied":"error","rules":{"partition":{"read":true,"write":{"%%user.id":"%%partition"}}}}"#
                )
                expectTrue(own["onReadDenied"] == "delete" && own["onWriteDenied"] == "error")
                expectEqual(own["access"]?.contains("rules of the app's own"), true)
                try await expectEqual(coordinator.request("GET", "apps/open")["access"], open["access"])
                let refused = try await coordinator.request(
                    "POST", "apps", #"{"id":"bad","rules":{"partition":{"read":1,"write":{"a":1}}}}"#)
                expectTrue(refused.status == 422 && refused["error"] == "rules_refused")
                expectTrue(
                    refused["findings.0.path"] == "/partition/read"
                        && refused["findings.1.path"] == "/partition/write/a")
                try await expectEqual(coordinator.request("GET", "apps/bad").status, 404)
                let template = try await coordinator.request("POST", "apps", #"{"id":"bad","rules":"opened"}"#)
                expectTrue(template.status == 422 && template["findings.0.hint"]?.contains("open") == true)
                let later = try await coordinator.request("PATCH", "apps/open", #"{"rules":"none"}"#)
                expectEqual(later.status, 400)
            }
        }
    }

    @Test func aFlexibleAppsRulesAreSaidOfObjects() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(
                AppRecord(id: "flex", syncMode: .flexible, anonymousLogin: false, createdAt: 1))
            try await harness.store.insert(
                UserRecord(app: "flex", id: "u1", identities: [], email: nil, isDisabled: false, createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let path = "apps/flex/rules"
                let none = try await coordinator.request(
                    "POST", "\(path)/check", #"{"rules":{"partition":{"read":{},"write":{}}}}"#)
                expectEqual(none["summary"], "nobody may read or write: there are no roles")
                expectTrue(none["findings.0.code"] == "no_roles" && none["findings.1.code"] == nil)
                let set = try await coordinator.request(
                    "PUT", path, #"{"replaces":0,"rules":{"defaultRoles":"readAll"}}"#)
                let sentence = "every user may read every object, nobody may write"
                expectEqual(set["summary"]?.hasPrefix(sentence + "; a user is whoever registers"), true)
                expectTrue(set["findings.0.code"] == nil)
                for shown in [path, "\(path)/versions/1", "\(path)/explain?user=u1&class=Dog"] {
                    try await expectEqual(
                        coordinator.request("GET", shown)["summary"]?.hasPrefix(sentence), true, "\(shown)")
                }
                try await expectEqual(coordinator.request("GET", "apps/flex")["access"], set["summary"])
                let explained = try await coordinator.request("GET", "\(path)/explain?user=u1")
                expectTrue(explained.status == 400 && explained["message"]?.contains("a class") == true)
            }
        }
    }

    /// An address belongs to whoever types it in, unless mail proves it.
    @Test func rulesByAnAddressAreWarnedOfUntilAddressesAreConfirmed() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let rules = #"{"rules":{"partition":{"read":{"%%user.data.email":"a@b.c"},"write":false}}}"#
                func codes() async throws -> String? {
                    let answer = try await coordinator.request("POST", "apps/tasks/rules/check", rules)
                    return answer["findings.0.code"]
                }
                try await expectEqual(codes(), "unconfirmed_email")
                _ = try await coordinator.request(
                    "PUT", "apps/tasks/logins/local-userpass", #"{"resetURL":"https://a.b/c"}"#)
                try await expectEqual(codes(), "unconfirmed_email")
                _ = try await coordinator.request(
                    "PUT", "apps/tasks/logins/local-userpass", #"{"confirmURL":"https://a.b/c"}"#)
                try await expectTrue(codes() == nil)
                _ = try await coordinator.request("PUT", "apps/tasks/rules", #"{"replaces":0,"rules":"read"}"#)
                try await expectEqual(
                    coordinator.request("GET", "apps/tasks")["access"]?.hasSuffix("and confirms it"), true)
                // Without such accounts an address comes from a service that the operator trusts.
                _ = try await coordinator.request("DELETE", "apps/tasks/logins/local-userpass")
                _ = try await coordinator.request("PATCH", "apps/tasks", #"{"emailPasswordLogin":false}"#)
                try await expectTrue(codes() == nil)
            }
        }
    }

    @Test func rulesAreShownSetAndListed() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let none = try await coordinator.request("GET", "apps/tasks/rules")
                expectTrue(none.status == 200 && none["version"] == "0" && none["rules"] == nil)
                let set = try await coordinator.request(
                    "PUT", "apps/tasks/rules", #"{"replaces":0,"rules":{"defaultRoles":"readAll"}}"#)
                expectTrue(set.status == 200 && set["version"] == "1" && set["findings.0.code"] == "no_partition_rules")
                let stale = try await coordinator.request("PUT", "apps/tasks/rules", #"{"replaces":0,"rules":"own"}"#)
                expectTrue(stale.status == 409 && stale["error"] == "stale")
                let second = try await coordinator.request("PUT", "apps/tasks/rules", #"{"replaces":1,"rules":"own"}"#)
                expectTrue(second["version"] == "2" && second["summary"]?.contains("user's id") == true)
                let shown = try await coordinator.request("GET", "apps/tasks/rules")
                expectTrue(shown["version"] == "2" && shown["author"] == "bootstrap")
                expectTrue(
                    shown["rules.partition.write.%%user"] == nil && shown.text.contains(#""%%user.id":"%%partition""#))
                let old = try await coordinator.request("GET", "apps/tasks/rules/versions/1")
                expectTrue(old["version"] == "1" && old["rules.defaultRoles.0.name"] == "readAll")
                let page = try await coordinator.request("GET", "apps/tasks/rules/versions?limit=1")
                expectTrue(page["versions.0.version"] == "2" && page["next"] == "2")
                let rest = try await coordinator.request("GET", "apps/tasks/rules/versions?limit=1&after=2")
                expectEqual(rest["versions.0.version"], "1")
                for (method, path, body, status) in [
                    ("GET", "apps/none/rules", nil, 404),
                    ("PUT", "apps/none/rules", #"{"replaces":0,"rules":"own"}"#, 404),
                    ("GET", "apps/tasks/rules/versions/3", nil, 404), ("GET", "apps/tasks/rules/versions/x", nil, 400),
                    ("PUT", "apps/tasks/rules", #"{"rules":"own"}"#, 400),
                    ("PUT", "apps/tasks/rules", #"{"replaces":2,"replaces":2,"rules":"own"}"#, 400),
                    ("PUT", "apps/tasks/rules", #"{"replaces":2,"rules":{"a":1}}"#, 422),
                    ("GET", "apps/tasks/rules/versions?after=x", nil, 400),
                ] as [(String, String, String?, Int)] {
                    let answer = try await coordinator.request(method, path, body)
                    expectEqual(answer.status, status, "\(method) \(path): \(answer.text)")
                }
                let large = #"{"replaces":2,"rules":{"values":{"x":"\#(String(repeating: "x", count: 262_200))"}}}"#
                let tooLarge = try await coordinator.request("PUT", "apps/tasks/rules", large)
                expectTrue(tooLarge.status == 422 && tooLarge["findings.0.code"] == "too_large")
                let huge = try await coordinator.request(
                    "PUT", "apps/tasks/rules", String(repeating: " ", count: 400_000))
                expectEqual(huge.status, 413)
                try await expectEqual(coordinator.request("GET", "apps/tasks/rules")["version"], "2")
            }
        }
    }

    @Test func rulesAreCheckedBesideTheSchema() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.store.extendSchema(
                ofApp: "tasks",
                with: [
                    SchemaElement(className: "Dog", type: "object(_id: int)"),
                    SchemaElement(className: "Dog", property: "owner_id", type: "objectId"),
                ])
            try await harness.withCoordinator { coordinator in
                let sound = try await coordinator.request("POST", "apps/tasks/rules/check", #"{"rules":"own"}"#)
                expectTrue(sound.status == 200 && sound.text.contains(#""valid":true"#))
                expectTrue(
                    sound["findings.0.code"] == "type_mismatch"
                        && sound["rules.defaultRoles.0.name"] == "readOwnWriteOwn")
                let bad = try await coordinator.request("POST", "apps/tasks/rules/check", #"{"rules":{"x":1,"y":2}}"#)
                expectTrue(bad.status == 200 && bad.text.contains(#""valid":false"#) && bad["rules"] == nil)
                expectTrue(bad["findings.0.path"] == "/x" && bad["findings.1.path"] == "/y")
                try await expectEqual(coordinator.request("GET", "apps/tasks/rules")["version"], "0")
            }
        }
    }

    @Test func anExplanationSaysHowTheRulesComeToIt() async throws {
        try await CoordinatorHarness.with { harness in
            let rules = try #require(RulesCheck("own").document)
            try await harness.store.insert(
                AppRecord(id: "tasks", createdAt: 1),
                rules: RulesChange(document: rules.bytes, author: "ops", at: 1))
            try await harness.store.insert(
                UserRecord(app: "tasks", id: "u1", identities: [], email: nil, isDisabled: false, createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let own = try await coordinator.request(
                    "GET", "apps/tasks/rules/explain?user=u1&partition=u1&class=Dog")
                expectTrue(own.status == 200 && own["partition.rights"] == "readWrite" && own["version"] == "1")
                expectTrue(own["partition.write.verdict"] == "true" && own["partition.write.subject"] == "u1")
                expectTrue(own["role.role"] == "readOwnWriteOwn" && own["role.tried.0.applyWhen.verdict"] == "true")
                let other = try await coordinator.request("GET", "apps/tasks/rules/explain?user=u1&partition=u2")
                expectTrue(other["partition.rights"] == "none" && other["role"] == nil)
                try await expectEqual(
                    coordinator.request("GET", "apps/tasks/rules/explain?user=x&partition=u2").status, 404)
                try await expectEqual(coordinator.request("GET", "apps/tasks/rules/explain?user=u1").status, 400)
                try await expectEqual(coordinator.request("GET", "apps/tasks/rules/explain?partition=u1").status, 400)
            }
        }
    }

    @Test func ownersAndGatewaysAreToldOfChanges() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.store.insert(
                UserRecord(app: "tasks", id: "u1", identities: [], email: nil, isDisabled: false, createdAt: 1))
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                let queue = try await harness.channel.declareQueue(
                    AMQPQueueDeclaration(name: "", durable: false, exclusive: true))
                try await harness.channel.bindQueue(
                    queue.name, exchange: harness.topology.realms, routingKey: SettingsNotice.topicKey(app: "tasks"))
                let set = try await coordinator.request("PUT", "apps/tasks/rules", #"{"replaces":0,"rules":"own"}"#)
                expectEqual(set.status, 200)
                try await expectEqual(harness.next(SettingsNotice.self, in: queue.name), SettingsNotice(app: "tasks"))
                for slice in harness.slices.all {
                    let message = try await harness.next(RulesMessage.self, in: harness.topology.slice(slice))
                    expectEqual(message, RulesMessage(app: "tasks", version: 1))
                }
                _ = try await coordinator.request("POST", "apps/tasks/users/u1/disable")
                // What was told before may be told again.
                var notice = try await harness.next(SettingsNotice.self, in: queue.name)
                while notice.user == nil { notice = try await harness.next(SettingsNotice.self, in: queue.name) }
                expectEqual(notice, SettingsNotice(app: "tasks", user: "u1"))
            }
        }
    }

    @Test func usersAreListedShownAndChanged() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            for id in ["u1", "u2"] {
                try await harness.store.insert(
                    UserRecord(
                        app: "tasks", id: id, identities: [.init(id: "i", provider: "anon-user")], email: "\(id)@b.c",
                        isDisabled: false, createdAt: 1))
                try await harness.store.insert(
                    LoginSessionRecord(
                        id: "s\(id)", app: "tasks", userID: id, deviceID: "d", createdAt: 1, lastUsedAt: 1,
                        expiresAt: .max >> 1, isRevoked: false, origin: nil))
            }
            try await harness.withCoordinator { coordinator in
                let page = try await coordinator.request("GET", "apps/tasks/users?limit=1")
                expectTrue(page["users.0.id"] == "u1" && page["users.1.id"] == nil && page["next"] == "u1")
                let rest = try await coordinator.request("GET", "apps/tasks/users?limit=1&after=u1")
                expectEqual(rest["users.0.email"], "u2@b.c")
                let disabled = try await coordinator.request("POST", "apps/tasks/users/u1/disable")
                expectTrue(disabled.text.contains(#""isDisabled":true"#))
                try await expectEqual(harness.store.user(app: "tasks", id: "u1")?.isDisabled, true)
                let enabled = try await coordinator.request("POST", "apps/tasks/users/u1/enable")
                expectTrue(enabled.text.contains(#""isDisabled":false"#))
                let data = try await coordinator.request(
                    "PUT", "apps/tasks/users/u1/custom-data", #"{"customData":{"team":"red"}}"#)
                expectEqual(data["customData.team"], "red")
                try await expectEqual(harness.store.user(app: "tasks", id: "u1")?.customData, #"{"team":"red"}"#)
                for (body, status) in [
                    (#"{"customData":[]}"#, 400), (#"{"customData":"x"}"#, 400),
                    (#"{"customData":{"x":"\#(String(repeating: "x", count: 17_000))"}}"#, 400),
                    (#"{"customData":{"a":1,"a":2}}"#, 400), (#"{"customData":null}"#, 200),
                ] {
                    let answer = try await coordinator.request("PUT", "apps/tasks/users/u1/custom-data", body)
                    expectEqual(answer.status, status, "\(answer.text)")
                }
                try await expectTrue(harness.store.user(app: "tasks", id: "u1")?.customData == nil)
                let revoked = try await coordinator.request("POST", "apps/tasks/users/u1/logins/revoke")
                expectTrue(revoked["revoked"] == "1" && revoked["user"] == "u1")
                let all = try await coordinator.request("POST", "apps/tasks/logins/revoke")
                expectTrue(all["revoked"] == "1" && all["user"] == nil)
                try await expectEqual(coordinator.request("DELETE", "apps/tasks/users/u1")["user"], "u1")
                try await expectTrue(harness.store.loginSession("su1") == nil)
                for (method, path) in [
                    ("GET", "apps/tasks/users/u1"), ("DELETE", "apps/tasks/users/u1"), ("GET", "apps/none/users"),
                    ("POST", "apps/tasks/users/u1/disable"), ("POST", "apps/tasks/users/u1/logins/revoke"),
                    ("PUT", "apps/tasks/users/u1/custom-data"), ("POST", "apps/none/logins/revoke"),
                ] {
                    try await expectEqual(coordinator.request(method, path).status, 404, "\(method) \(path)")
                }
            }
        }
    }
}
