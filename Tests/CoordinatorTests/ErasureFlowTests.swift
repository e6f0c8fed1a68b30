import AMQP
import Foundation
import Messages
import MessagingSupport
import Rules
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.needsBroker, .hangGuard) struct ErasureFlowTests {
    private let realm = RealmName(app: "tasks", partition: "\"nw\"")

    private func with(
        rules: String = "open", _ body: (CoordinatorHarness, RunningCoordinator) async throws -> Void
    ) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.makeRealm(realm)
            try await harness.withCoordinator { coordinator in
                _ = try await coordinator.request("POST", "apps", #"{"id": "tasks", "rules": "\#(rules)"}"#)
                try await eventually { coordinator.isServing }
                try await body(harness, coordinator)
            }
        }
    }

    @Test func aRealmIsErasedOnceItIsNamedTwice() async throws {
        try await with { harness, coordinator in
            let path = "apps/tasks/realms/erase"
            let plan = try await coordinator.request("POST", path, #"{"partition": "nw", "dryRun": true}"#)
            expectTrue(plan.status == 200 && plan["realms"] == "1" && plan["objects"] == "0")
            let unsure = try await coordinator.request("POST", path, #"{"partition": "nw"}"#)
            expectTrue(unsure.status == 400 && unsure["message"]?.contains("confirm") == true)
            try await expectTrue(harness.store.campaigns(app: nil, after: nil, limit: 9).isEmpty)
            let none = try await coordinator.request("POST", path, #"{"partition": "x", "confirm": "x"}"#)
            expectEqual(none.status, 404)
            let body = #"{"partition": "nw", "confirm": "nw", "campaign": "e1", "reason": "left"}"#
            let answer = try await coordinator.request("POST", path, body)
            expectTrue((answer.status == 201 || answer.status == 202) && answer["kind"] == "erasure")
            let message = try await harness.next(
                EraseMessage.self, in: harness.topology.slice(realm.slice(of: harness.slices)))
            expectEqual(message, EraseMessage(realm: realm, campaign: "e1", reason: "left"))
            try await expectEqual(coordinator.request("POST", path, body)["id"], "e1")
            var found = harness.found([2, 3], campaign: "e1", slice: 0)
            found.kind = "erasure"
            try await harness.publish(found, to: harness.topology.outcomes)
            try await eventually { try await harness.store.campaign("e1")?.counts.found == 2 }
        }
    }

    @Test func theFlexibleRealmIsErasedByItsAppsName() async throws {
        try await CoordinatorHarness.with { harness in
            let realm = RealmName(flexible: "flex")
            try await harness.makeRealm(realm)
            let rules = try #require(RulesCheck("own").document)
            try await harness.store.insert(
                AppRecord(id: "flex", syncMode: .flexible, createdAt: 1),
                rules: RulesChange(document: rules.bytes, author: "ops", at: 1))
            // What an app has left behind in a move.
            try await harness.store.insert(AppRecord(id: "back", createdAt: 1))
            try await harness.store.insert(
                UserRecord(app: "flex", id: "u1", identities: [], email: nil, isDisabled: false, createdAt: 1))
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                let path = "apps/flex/realms/erase"
                try await expectEqual(
                    coordinator.request("POST", path, #"{"dryRun":true}"#)["partitions.0"]?.isEmpty, true)
                let unsure = try await coordinator.request("POST", path, #"{"confirm":""}"#)
                expectTrue(unsure.status == 400 && unsure["message"]?.contains("the app once more") == true)
                let answer = try await coordinator.request("POST", path, #"{"confirm":"flex","campaign":"e1"}"#)
                expectTrue(answer.status == 201 || answer.status == 202)
                let message = try await harness.next(
                    EraseMessage.self, in: harness.topology.slice(realm.slice(of: harness.slices)))
                expectEqual(message.realm, realm)
                try await expectEqual(
                    coordinator.request(
                        "POST", "apps/back/realms/erase", #"{"flexible":true,"confirm":"back"}"#
                    )
                    .status, 404)
                // By the rules a partition would be the user's own, and the app has none.
                let user = try await coordinator.request("DELETE", "apps/flex/users/u1?withRealm=true")
                expectTrue(user.status == 409 && user["message"]?.contains("flexible sync") == true)
                try await expectTrue(harness.store.user(app: "flex", id: "u1") != nil)
            }
        }
    }

    @Test func aDeletedAppGoesInStepsAndItsIdIsNotGivenAgain() async throws {
        try await with { harness, coordinator in
            for number in 0..<1_200 {
                try await harness.store.insert(
                    UserRecord(
                        app: "tasks", id: "u\(number)", identities: [], email: nil, isDisabled: false, createdAt: 1))
            }
            try await harness.store.insert(AppRecord(id: "other", createdAt: 1))
            try await harness.store.insert(
                UserRecord(app: "other", id: "u1", identities: [], email: nil, isDisabled: false, createdAt: 1))
            _ = try await harness.store.terminate(
                CampaignRequest(id: "k1", app: "tasks", reason: nil, at: 1), enable: true, slices: 2)
            try await expectEqual(coordinator.request("DELETE", "apps/tasks").status, 400)
            try await expectEqual(coordinator.request("DELETE", "apps/tasks?dryRun=true")["users"], "1200")
            let answer = try await coordinator.request("DELETE", "apps/tasks?confirm=tasks")
            expectTrue(answer.status == 202 && answer["app"] == "tasks")
            try await expectEqual(coordinator.request("GET", "apps/tasks").status, 404)
            for slice in harness.slices.all {
                let message = try await harness.next(EraseAppMessage.self, in: harness.topology.slice(slice))
                expectEqual(message.app, "tasks")
            }
            try await eventually { try await harness.store.users(app: "tasks", after: nil, limit: 1).isEmpty }
            try await eventually { try await harness.store.campaigns(app: "tasks", after: nil, limit: 1).isEmpty }
            try await expectTrue(harness.store.rulesHistory(app: "tasks", after: nil, limit: 1).isEmpty)
            try await expectEqual(harness.store.users(app: "other", after: nil, limit: 9).count, 1)
            try await expectTrue(coordinator.request("GET", "apps/tasks/deletion")["finishedAt"] == nil)
            // What is still said of it is of no use to anybody, and no dead letter.
            try await harness.publish(harness.found([2], campaign: "k1", slice: 0), to: harness.topology.outcomes)
            for slice in harness.slices.all {
                try await harness.publish(
                    ErasedReport(app: "tasks", slice: slice, erased: 3, left: 0, isDone: true),
                    to: harness.topology.outcomes)
            }
            try await eventually {
                try await coordinator.request("GET", "apps/tasks/deletion")["finishedAt"] != nil
            }
            let done = try await coordinator.request("GET", "deletions")
            expectEqual(done["deletions.0.realms"], "\(3 * harness.slices.value)")
            let dead = AMQPQueueDeclaration(name: harness.topology.dead, passive: true)
            try await expectEqual(harness.channel.declareQueue(dead, record: false).messageCount, 0)
            let again = try await coordinator.request("POST", "apps", #"{"id": "tasks"}"#)
            expectTrue(again.status == 409 && again["message"]?.contains("deleted") == true)
            try await expectTrue(coordinator.request("DELETE", "apps/tasks")["finishedAt"] != nil)
        }
    }

    @Test func aUsersOwnRealmGoesWithTheUserAndASharedOneDoesNot() async throws {
        let user = "65f0c0ffee65f0c0ffee65f0"
        for rules in ["own", "open"] {
            try await with(rules: rules) { harness, coordinator in
                let own = RealmName(app: "tasks", partition: "\"\(user)\"")
                if own.slice(of: harness.slices) != realm.slice(of: harness.slices) {
                    try await harness.makeRealm(own)
                } else {
                    try await harness.addRealm(own)
                }
                try await harness.store.insert(
                    UserRecord(
                        app: "tasks", id: user, identities: [], email: nil, isDisabled: false, createdAt: 1))
                let path = "apps/tasks/users/\(user)?withRealm=true"
                guard rules == "own" else {
                    try await expectEqual(coordinator.request("DELETE", path).status, 409)
                    try await expectTrue(harness.store.user(app: "tasks", id: user) != nil)
                    return
                }
                let plan = try await coordinator.request("DELETE", path + "&dryRun=true")
                expectTrue(plan["realms"] == "1" && plan["partitions.0"] == own.partition)
                try await expectTrue(harness.store.user(app: "tasks", id: user) != nil)
                let answer = try await coordinator.request("DELETE", path)
                expectTrue(answer.status == 200 && answer["erasures.0"] == "tasks.user-\(user).erased-0")
                try await expectTrue(harness.store.user(app: "tasks", id: user) == nil)
                let message = try await harness.next(
                    EraseMessage.self, in: harness.topology.slice(own.slice(of: harness.slices)))
                expectEqual(message.realm, own)
            }
        }
    }
}
