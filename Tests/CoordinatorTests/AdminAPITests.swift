import AMQP
import AsyncHTTPClient
import Foundation
import Messages
import NIOCore
import NIOHTTP1
import Operations
import ServiceLifecycle
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.needsBroker, .hangGuard) struct AdminAPITests {
    @Test func onlyTheTokenOpensTheAPI() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                for (path, token) in [("apps", nil), ("apps", "wrong"), ("nowhere", nil)] as [(String, String?)] {
                    let answer = try await coordinator.request("GET", path, token: token)
                    expectTrue(answer.status == 401 && answer["error"] == "unauthorized")
                }
                try await expectEqual(coordinator.request("GET", "apps").status, 200)
                let missing = try await coordinator.request("GET", "nowhere")
                expectTrue(missing.status == 404 && missing["error"] == "not_found")
                let put = try await coordinator.request("PUT", "apps")
                expectTrue(put.status == 405 && put["error"] == "method_not_allowed")
                expectEqual(put["message"], "the route is there for GET, POST")
                try await expectEqual(coordinator.request("PUT", "apps", token: nil).status, 401)
            }
        }
    }

    @Test func appsAreCreatedShownAndChanged() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let created = try await coordinator.request("POST", "apps", #"{"id":"tasks","maxOfflineDays":3}"#)
                expectTrue(
                    created.status == 201 && created["maxOfflineDays"] == "3" && created["syncState"] == "enabled")
                let again = try await coordinator.request("POST", "apps", #"{"id":"tasks"}"#)
                expectTrue(again.status == 409 && again["error"] == "already_exists")
                try await expectEqual(coordinator.request("GET", "apps")["apps.0.id"], "tasks")
                try await expectEqual(coordinator.request("GET", "apps/tasks")["users"], "0")
                try await expectEqual(coordinator.request("GET", "apps/none").status, 404)

                let queue = try await harness.channel.declareQueue(
                    AMQPQueueDeclaration(name: "", durable: false, exclusive: true))
                try await harness.channel.bindQueue(
                    queue.name, exchange: harness.topology.realms, routingKey: SettingsNotice.topicKey(app: "tasks"))
                // The notice of the creation may still be under way; that of the change follows it.
                try await eventually { coordinator.isServing }
                let changed = try await coordinator.request("PATCH", "apps/tasks", #"{"clientRecovery":false}"#)
                expectTrue(changed.text.contains("\"clientRecovery\":false") && changed["maxOfflineDays"] == "3")
                try await expectEqual(harness.next(SettingsNotice.self, in: queue.name).app, "tasks")
                let followed = try await coordinator.request("PATCH", "apps/tasks", #"{"changeFeed":"keys"}"#)
                expectTrue(followed["changeFeed"] == "keys" && created["changeFeed"] == "off")
                let wrong = try await coordinator.request("PATCH", "apps/tasks", #"{"changeFeed":"all"}"#)
                expectTrue(wrong.status == 400 && wrong.text.contains("expected one of off, keys, documents"))

                try await expectEqual(coordinator.request("POST", "apps/tasks/sync/pause")["syncState"], "paused")
                try await expectEqual(coordinator.request("POST", "apps/tasks/sync/enable")["syncState"], "enabled")
            }
        }
    }

    @Test func anAppsSchemaIsShown() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                try await expectEqual(coordinator.request("GET", "apps/none/schema").status, 404)
                _ = try await coordinator.request("POST", "apps", #"{"id":"tasks"}"#)
                let empty = try await coordinator.request("GET", "apps/tasks/schema")
                expectTrue(empty.status == 200 && empty["classes.0.name"] == nil)
                try await harness.store.extendSchema(
                    ofApp: "tasks",
                    with: [
                        SchemaElement(className: "Dog", property: "age", type: "int?"),
                        SchemaElement(className: "Dog", type: "object(_id: int)"),
                        SchemaElement(className: "Cat", type: "embedded"),
                    ])
                let shown = try await coordinator.request("GET", "apps/tasks/schema")
                expectTrue(shown["classes.0.name"] == "Cat" && shown["classes.0.type"] == "embedded")
                expectEqual(shown["classes.1.type"], "object(_id: int)")
                expectEqual(shown["classes.1.properties.0.name"], "age")
                expectEqual(shown["classes.1.properties.0.type"], "int?")
            }
        }
    }

    @Test func compatibilityIsSetAtAnAppsCreationAndNeverAgain() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let created = try await coordinator.request(
                    "POST", "apps", #"{"id":"own","compatibility":"convergent"}"#)
                expectTrue(created.status == 201 && created["compatibility"] == "convergent")
                let standard = try await coordinator.request("POST", "apps", #"{"id":"any"}"#)
                expectEqual(standard["compatibility"], "stockClients")
                try await expectEqual(coordinator.request("GET", "apps")["apps.1.compatibility"], "convergent")
                try await expectEqual(coordinator.request("GET", "apps/own")["compatibility"], "convergent")
                let refused = try await coordinator.request(
                    "PATCH", "apps/own", #"{"compatibility":"stockClients","maxOfflineDays":3}"#)
                expectTrue(refused.status == 409 && refused["error"] == "fixed_at_creation")
                expectEqual(refused["message"]?.contains("create another app with compatibility stockClients"), true)
                try await expectEqual(coordinator.request("GET", "apps/own")["maxOfflineDays"], "30")
                let same = try await coordinator.request("PATCH", "apps/own", #"{"compatibility":"convergent"}"#)
                expectTrue(same.status == 200 && same["compatibility"] == "convergent")
            }
        }
    }

    @Test func invalidRequestsAreRefusedWithTheReason() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let wrong: [(String, String, String, String)] = [
                    ("POST", "apps", #"{"id":"Tasks"}"#, "id:"), ("POST", "apps", "{}", "\"id\" is missing"),
                    ("POST", "apps", "[]", "JSON object"), ("POST", "apps", "{", "not JSON"),
                    ("POST", "apps", #"{"id":"a","maxOfflineDays":0}"#, "maxOfflineDays: expected 1 to 3650"),
                    ("POST", "apps", #"{"id":"a","syncMode":"odd"}"#, "syncMode"),
                    ("POST", "apps", #"{"id":"a","compatibility":"odd"}"#, "compatibility"),
                    ("PATCH", "apps/tasks", #"{"clientRecovry":true}"#, "\"clientRecovry\" is not known"),
                    ("PATCH", "apps/tasks", #"{"clientRecovery":"yes"}"#, "clientRecovery: expected Bool"),
                    ("PATCH", "apps/tasks", #"{"clientRecovery":null}"#, "clientRecovery: expected a value"),
                    ("POST", "apps/tasks/sync/pause", #"{"reason":"a"}"#, "expected no keys"),
                    (
                        "POST", "apps/tasks/sync/reset", #"{"partition":"nw","clientFile":99999999999999999999}"#,
                        "out of range"
                    ),
                    ("POST", "apps/tasks/sync/terminate", #"{"campaign":"a b"}"#, "campaign:"),
                    ("POST", "apps/tasks/sync/reset", #"{"partition":"nw","clientFile":1}"#, "clientFile:"),
                    ("POST", "apps/tasks/sync/reset", #"{"clientFile":7}"#, "partition: app tasks uses partition sync"),
                    (
                        "POST", "apps/tasks/realms/erase", #"{"confirm":"tasks"}"#,
                        "partition: app tasks uses partition sync"
                    ),
                    ("GET", "campaigns?limit=0", "", "limit: expected 1 to 1000"),
                    (
                        "POST", "apps/tasks/documents", #"{"partition":"nw","flexible":{},"writes":[]}"#,
                        "flexible: expected true or false"
                    ),
                    ("POST", "apps/tasks/documents", #"{"partition":7,"writes":[]}"#, "partition: expected a text"),
                ]
                for (method, path, body, expected) in wrong {
                    let answer = try await coordinator.request(method, path, body.isEmpty ? nil : body)
                    expectTrue(
                        answer.status == 400 && answer["error"] == "invalid_request", "\(method) \(path) \(body)")
                    expectEqual(answer["message"]?.contains(expected), true, "\(answer.text)")
                }
                let large = try await coordinator.request(
                    "POST", "apps/tasks/sync/terminate", String(repeating: " ", count: 70_000))
                expectTrue(large.status == 413 && large["error"] == "too_large")
                let none = try await coordinator.request("POST", "apps/none/sync/terminate")
                expectEqual(none.status, 404)
            }
        }
    }

    @Test func aCampaignStreamsItsCountsUntilItCloses() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                _ = try await coordinator.request("POST", "apps/tasks/sync/terminate", #"{"campaign":"k1"}"#)
                let response = try await coordinator.execute("GET", "campaigns/k1/events")
                expectEqual(response.status, .ok)
                try await harness.publish(
                    harness.found([2, 3], campaign: "k1", slice: 0), to: harness.topology.outcomes)
                try await harness.publish(harness.found([], campaign: "k1", slice: 1), to: harness.topology.outcomes)
                for (file, result) in [(FileIdent(2), OutcomeReport.Result.recovered), (3, .discarded)] {
                    try await harness.publish(harness.outcome(file, result), to: harness.topology.outcomes)
                }
                // The stream ends by itself when the campaign closes.
                let text = try await response.body.collect(upTo: 1 << 20)
                let lines = String(decoding: text.readableBytesView, as: UTF8.self).split(separator: "\n")
                let last = RunningCoordinator.Answer(status: 200, text: String(lines.last ?? ""))
                expectTrue(last["state"] == "closed" && last["counts.found"] == "2" && last["counts.recovered"] == "1")
                let first = RunningCoordinator.Answer(status: 200, text: String(lines.first ?? ""))
                expectTrue(first["id"] == "k1" && lines.count >= 2)

                let page = try await coordinator.request("GET", "campaigns/k1/client-realms?limit=1")
                expectTrue(page["clientRealms.0.clientFile"] == "2" && page["clientRealms.0.outcome"] == "recovered")
                let next = try #require(page["next"])
                let rest = try await coordinator.request("GET", "campaigns/k1/client-realms?limit=1&after=\(next)")
                expectEqual(rest["clientRealms.0.clientFile"], "3")
                let discarded = try await coordinator.request("GET", "campaigns/k1/client-realms?outcome=discarded")
                expectTrue(
                    discarded["clientRealms.0.clientFile"] == "3" && discarded["clientRealms.1.clientFile"] == nil)
                let history = try await coordinator.request("GET", "apps/tasks/client-realms/2?partition=nw")
                expectEqual(history["clientRealms.0.campaign"], "k1")
                try await expectEqual(coordinator.request("GET", "campaigns?app=tasks")["campaigns.0.id"], "k1")
            }
        }
    }

    @Test func anOpenStreamDoesNotHoldUpTheShutdown() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                _ = try await coordinator.request("POST", "apps/tasks/sync/terminate", #"{"campaign":"k1"}"#)
                let response = try await coordinator.execute("GET", "campaigns/k1/events")
                await coordinator.group.triggerGracefulShutdown()
                _ = try await response.body.collect(upTo: 1 << 20)
                try await coordinator.task.value
            }
        }
    }

    @Test func heartbeatsTellWhoOwnsTheSlices() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                // From one answer: who is silent for a while owns nothing.
                var slices = RunningCoordinator.Answer(status: 0, text: "")
                try await eventually {
                    try await harness.publish(
                        HeartbeatMessage(
                            worker: "w1", at: 1, owns: [SliceNumber(0)], standsBy: [SliceNumber(1)], epochs: ["0": 4],
                            load: 2, isStaying: true), to: harness.topology.presence, mandatory: false)
                    slices = try await coordinator.request("GET", "cluster/slices")
                    return slices["slices.0.owner"] == "w1"
                }
                expectTrue(slices["slices.0.epoch"] == "4" && slices["slices.1.standBy.0"] == "w1")
                try await expectEqual(coordinator.request("GET", "cluster/workers")["workers.0.worker"], "w1")
            }
        }
    }
}
