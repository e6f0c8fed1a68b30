import AMQP
import Foundation
import Messages
import MessagingSupport
import Operations
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.needsBroker, .hangGuard) struct CampaignFlowTests {
    private func with(_ body: (CoordinatorHarness) async throws -> Void) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await body(harness)
        }
    }

    @Test func aTerminationReachesEverySliceWithItsGeneration() async throws {
        try await with { harness in
            try await harness.withCoordinator { coordinator in
                let answer = try await coordinator.request(
                    "POST", "apps/tasks/sync/terminate", #"{"reason":"drill","enable":false,"campaign":"k1"}"#)
                // 202 if the broker connection was not up yet: then the active coordinator publishes it.
                expectTrue(answer.status == 201 || answer.status == 202)
                expectTrue(answer["id"] == "k1" && answer["generation"] == "2" && answer["counts.found"] == "0")
                for slice in harness.slices.all {
                    let message = try await harness.next(TerminationMessage.self, in: harness.topology.slice(slice))
                    expectEqual(
                        message, TerminationMessage(app: "tasks", campaign: "k1", generation: 2, reason: "drill"))
                }
                try await eventually { try await harness.store.campaign("k1")?.campaign.state == .counting }
                try await expectEqual(coordinator.request("GET", "apps/tasks")["syncState"], "terminated")
                let again = try await coordinator.request(
                    "POST", "apps/tasks/sync/terminate", #"{"campaign":"k1"}"#)
                expectEqual(again["generation"], "2")
            }
        }
    }

    @Test func aResetGoesToItsRealmsSliceOnly() async throws {
        try await with { harness in
            let realm = RealmName(app: "tasks", partition: "\"nw\"")
            try await harness.makeRealm(realm)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                let answer = try await coordinator.request(
                    "POST", "apps/tasks/sync/reset", #"{"partition":"nw","clientFile":7,"campaign":"r1"}"#)
                // 202 if the broker had no time: then the active coordinator publishes it.
                expectTrue((answer.status == 201 || answer.status == 202) && answer["kind"] == "reset")
                let message = try await harness.next(
                    ResetMessage.self, in: harness.topology.slice(realm.slice(of: harness.slices)))
                expectEqual(message, ResetMessage(realm: realm, clientFile: 7, campaign: "r1", reason: nil))
            }
        }
    }

    @Test func aClientRealmOfAFlexibleAppIsReset() async throws {
        try await CoordinatorHarness.with { harness in
            let realm = RealmName(flexible: "tasks")
            try await harness.store.insert(AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1))
            try await harness.makeRealm(realm)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                let path = "apps/tasks/sync/reset"
                let slice = harness.topology.slice(realm.slice(of: harness.slices))
                for (body, campaign, file) in [
                    (#"{"clientFile":7,"campaign":"r1"}"#, "r1", 7),
                    (#"{"campaign":"r2","flexible":true}"#, "r2", nil),
                    (#"{"campaign":"r3","partition":""}"#, "r3", nil),
                ] as [(String, String, FileIdent?)] {
                    let answer = try await coordinator.request("POST", path, body)
                    expectTrue(
                        (answer.status == 201 || answer.status == 202) && answer["kind"] == "reset", "\(answer.text)")
                    var message = try await harness.next(ResetMessage.self, in: slice)
                    // What was published before may come again.
                    while message.campaign != campaign {
                        message = try await harness.next(ResetMessage.self, in: slice)
                    }
                    expectTrue(message.realm == realm && message.clientFile == file)
                }
                // What the slice finds, and how its client's reset ends, is of one client realm.
                var found = harness.found([7], campaign: "r1", slice: 0, generation: 1)
                found.kind = "reset"
                found.clientRealms[0].partition = ""
                var ended = harness.outcome(7, .recovered)
                ended.realm = realm
                try await harness.publish(found, to: harness.topology.outcomes)
                try await harness.publish(ended, to: harness.topology.outcomes)
                try await eventually { try await harness.store.campaign("r1")?.campaign.state == .closed }
                let history = try await coordinator.request("GET", "apps/tasks/client-realms/7")
                expectTrue(history["clientRealms.0.outcome"] == "recovered" && history["clientRealms.1.outcome"] == nil)
                let listed = try await coordinator.request("GET", "campaigns/r1/client-realms?flexible=true")
                expectEqual(listed["clientRealms.0.clientFile"], "7")
                try await expectEqual(coordinator.request("POST", path, #"{"partition":"nw"}"#).status, 404)
                try await expectEqual(
                    coordinator.request("POST", path, #"{"partition":"nw","flexible":true}"#).status, 400)
            }
        }
    }

    @Test func aCampaignRecordedByOneThatDiedIsPublishedByTheNext() async throws {
        try await with { harness in
            _ = try await harness.store.terminate(
                CampaignRequest(id: "k1", app: "tasks", reason: nil, at: 1), enable: true, slices: 2)
            try await harness.withCoordinator { _ in
                for slice in harness.slices.all {
                    let message = try await harness.next(TerminationMessage.self, in: harness.topology.slice(slice))
                    expectTrue(message.campaign == "k1" && message.generation == 2)
                }
                try await eventually { try await harness.store.campaign("k1")?.campaign.state == .counting }
            }
        }
    }

    @Test func reportsInAnyOrderAndTwiceOverTwoCoordinatorsLivesAddUp() async throws {
        try await with { harness in
            let outcomes = harness.topology.outcomes
            func publishAll() async throws {
                try await harness.publish(harness.outcome(2, .recovered), to: outcomes)
                try await harness.publish(
                    NotifiedReport(
                        campaign: "k1", realm: RealmName(app: "tasks", partition: "\"nw\""), clientFile: 3, at: 9),
                    to: outcomes)
                try await harness.publish(
                    harness.outcome(3, .discarded, campaign: "k1", evidence: .inferred), to: outcomes)
                try await harness.publish(harness.found([4, 5], campaign: "k1", slice: 1), to: outcomes)
                try await harness.publish(harness.outcome(5, .manualPending), to: outcomes)
                try await harness.publish(harness.found([2, 3], campaign: "k1", slice: 0), to: outcomes)
            }
            try await publishAll()
            try await harness.withCoordinator("first") { coordinator in
                _ = try await coordinator.request("POST", "apps/tasks/sync/terminate", #"{"campaign":"k1"}"#)
                try await eventually { try await harness.store.campaign("k1")?.counts.found == 4 }
            }
            try await publishAll()
            try await harness.publish(harness.outcome(4, .failed), to: outcomes)
            try await harness.withCoordinator("second") { coordinator in
                try await eventually { try await coordinator.request("GET", "campaigns/k1")["state"] == "closed" }
                let counts = try await harness.store.campaign("k1")?.counts
                expectEqual(counts, CampaignCounts(notified: 1, recovered: 1, discarded: 1, manual: 1, failed: 1))
                let campaign = try await coordinator.request("GET", "campaigns/k1")
                expectTrue(campaign["slices.0.found"] == "2" && campaign["slices.1.chunksReported"] == "1")
            }
        }
    }

    @Test func aTerminationPublishedFromAShellIsAccounted() async throws {
        try await with { harness in
            try await harness.withCoordinator { coordinator in
                for slice in 0...1 {
                    try await harness.publish(
                        harness.found([FileIdent(UInt64(slice + 2))], campaign: "shell-1", slice: slice, generation: 6),
                        to: harness.topology.outcomes)
                }
                try await eventually { try await harness.store.campaign("shell-1")?.campaign.state == .running }
                try await expectEqual(harness.store.app("tasks")?.generation, 6)
                try await expectEqual(coordinator.request("GET", "campaigns/shell-1")["counts.pending"], "2")
            }
        }
    }

    @Test func poisonIsPutAsideWithTheReasonAndTheOthersGoOn() async throws {
        try await with { harness in
            let outcomes = harness.topology.outcomes
            var odd = AMQPMessage(body: Array("{\"half\":".utf8))
            odd.properties.type = "found"
            try await harness.channel.publish(odd, exchange: outcomes, routingKey: "", mandatory: true)
            try await harness.publish(harness.found([2], campaign: "k", slice: 0, app: "nobody"), to: outcomes)
            try await harness.publish(harness.found([2], campaign: "good", slice: 0), to: outcomes)
            try await harness.withCoordinator { _ in
                try await eventually { try await harness.store.campaign("good") != nil }
                var reasons: [String: String] = [:]
                while reasons.count < 2 {
                    guard let delivery = try await harness.channel.get(queue: harness.topology.dead) else {
                        try await Task.sleep(for: .milliseconds(20))
                        continue
                    }
                    try await delivery.ack()
                    let headers = delivery.message.properties.headers
                    expectEqual(headers[DeadLetter.queueHeader]?.stringValue, outcomes)
                    reasons[headers[DeadLetter.appHeader]?.stringValue ?? ""] =
                        headers[DeadLetter.reasonHeader]?.stringValue
                }
                expectEqual(reasons["nobody"], "there is no app nobody")
                expectEqual(reasons[""]?.contains("found message refused"), true)
            }
        }
    }

    @Test func reportsOfANewerVersionGoBackToTheQueueAndTheOthersGoOn() async throws {
        try await with { harness in
            let outcomes = harness.topology.outcomes
            var newer = AMQPMessage(body: "{}", properties: AMQPProperties(messageID: "later"))
            newer.properties.type = "future"
            newer.properties.headers[MessageVersion.header] = .int(MessageVersion.known + 1)
            try await harness.channel.publish(newer, exchange: outcomes, routingKey: "", mandatory: true)
            try await harness.publish(harness.found([2], campaign: "good", slice: 0), to: outcomes)
            try await harness.withCoordinator { _ in
                try await eventually { try await harness.store.campaign("good") != nil }
                // The newer message has been to the coordinator by now, which goes on with what comes after that
                // message.
                try await harness.publish(harness.found([2], campaign: "next", slice: 0), to: outcomes)
                try await eventually { try await harness.store.campaign("next") != nil }
            }
            let consumer = try await harness.channel.consume(queue: outcomes)
            while let delivery = try await consumer.nextBatch(max: 1)?.first {
                try await delivery.ack()
                guard delivery.message.properties.type != "tick" else { continue }
                expectTrue(
                    delivery.message.properties.messageID == "later"
                        && delivery.message.markedVersion == MessageVersion.known + 1)
                // As if it had never been delivered.
                expectTrue(delivery.message.properties.headers["x-delivery-count"]?.intValue ?? 0 <= 1)
                break
            }
            try await consumer.cancel()
            try await expectTrue(harness.channel.get(queue: harness.topology.dead) == nil)
        }
    }

    @Test func ofTooManyDeadLettersTheOldestOfTheirAppGo() async throws {
        try await with { harness in
            func bury(_ app: String, _ number: Int) async throws {
                let message = AMQPMessage(body: "\(number)", properties: AMQPProperties(messageID: "\(app)-\(number)"))
                let draft = DeadLetterDraft(
                    message, reason: "r", queue: harness.topology.outcomes, app: app, diedAt: UInt64(number))
                try await harness.channel.publish(
                    draft.letter, exchange: harness.topology.dead, routingKey: "", mandatory: true)
            }
            for number in 1...5 { try await bury("quiet", number) }
            for number in 1...40 { try await bury("loud", number) }
            let dead = AMQPQueueDeclaration(name: harness.topology.dead, passive: true)
            try await harness.withCoordinator(maxDeadLetters: 30) { _ in
                // A client that looked into the letters would keep the coordinator from seeing them.
                try await eventually {
                    try await harness.channel.declareQueue(dead, record: false).messageCount == 27
                }
            }
            let queue = DeadLetterQueue(
                connection: harness.cluster.connection, topology: harness.topology, slices: harness.slices)
            try await eventually {
                var left: Set<String> = []
                _ = try await queue.visit(limit: 100) { _, message in
                    left.insert(message.properties.messageID ?? "")
                    return .kept
                }
                return left == Set((1...5).map { "quiet-\($0)" } + (19...40).map { "loud-\($0)" })
            }
        }
    }

    @Test func theStandByTakesOver() async throws {
        try await with { harness in
            try await harness.withCoordinator("first") { first in
                try await eventually { first.readiness.component("coordinator.role")?.reason == "active" }
                try await harness.withCoordinator("second") { second in
                    try await eventually { second.isServing }
                    expectEqual(second.readiness.component("coordinator.role")?.reason, "standing by")
                    // Both serve the admin API.
                    try await expectEqual(second.request("GET", "apps")["apps.0.id"], "tasks")
                    first.task.cancel()
                    _ = await first.task.result
                    try await eventually { second.readiness.component("coordinator.role")?.reason == "active" }
                    try await harness.publish(
                        harness.found([2], campaign: "late", slice: 0), to: harness.topology.outcomes)
                    try await eventually { try await harness.store.campaign("late")?.counts.found == 1 }
                }
            }
        }
    }

    @Test func theActiveOneTicksTheSlicesButFillsNoAbandonedQueue() async throws {
        try await with { harness in
            try await harness.withCoordinator(tick: .milliseconds(20)) { _ in
                for slice in harness.slices.all {
                    try await expectTrue(harness.next(TickMessage.self, in: harness.topology.slice(slice)).at > 0)
                }
                let queue = AMQPQueueDeclaration(name: harness.topology.slice(SliceNumber(0)), passive: true)
                func waiting() async throws -> Int {
                    try await harness.channel.declareQueue(queue, record: false).messageCount
                }
                // The loop above has taken one tick.
                try await eventually { try await waiting() >= UnheardTicks.maximum - 1 }
                // A slice that has an owner is ticked on: the other one would have had as many.
                for _ in 0..<UnheardTicks.maximum {
                    try await harness.publish(
                        HeartbeatMessage(
                            worker: "w1", at: 1, owns: [SliceNumber(1)], standsBy: [], epochs: [:], load: 0,
                            isStaying: true),
                        to: harness.topology.presence, mandatory: false)
                    _ = try await harness.next(TickMessage.self, in: harness.topology.slice(SliceNumber(1)))
                }
                try await expectTrue(waiting() < UnheardTicks.maximum)
            }
        }
    }
}
