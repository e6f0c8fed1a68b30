import AMQP
import AsyncHTTPClient
import Foundation
import Messages
import NIOCore
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What operators look at through the admin API: dead letters, passing messages, findings, stored realms.
@Suite(.needsBroker, .hangGuard) struct LookingTests {
    private func bury(_ harness: CoordinatorHarness, id: String, queue: String, reason: String = "no reason")
        async throws
    {
        var message = try AMQPMessage(TickMessage(at: 1), id: id)
        message.properties.headers[DeadLetter.reasonHeader] = .string(reason)
        message.properties.headers[DeadLetter.queueHeader] = .string(queue)
        message.properties.headers[DeadLetter.appHeader] = "tasks"
        try await harness.channel.publish(message, exchange: harness.topology.dead, routingKey: "", mandatory: true)
    }

    @Test func queuesAreToldAsTheBrokerCountsThem() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator(tick: .seconds(60)) { coordinator in
                try await eventually { coordinator.isServing }
                for id in ["m1", "m2"] { try await bury(harness, id: id, queue: "some-queue") }
                // What was asked for a moment ago is told again.
                try await eventually("both letters are counted") {
                    let list = try await coordinator.request("GET", "cluster/queues")
                    expectEqual(list["queues.0.queue"], harness.topology.slice(SliceNumber(0)))
                    expectEqual(list["queues.1.slice"], "1")
                    expectTrue(
                        list["queues.2.queue"] == harness.topology.outcomes && list["queues.2.slice"] == nil, "\(list)")
                    return list["queues.3.queue"] == harness.topology.dead && list["queues.3.ready"] == "2"
                }
                _ = try await harness.channel.deleteQueue(harness.topology.dead)
                try await eventually("it is missed") {
                    let list = try await coordinator.request("GET", "cluster/queues")
                    return list.status == 404 && list["message"]?.contains(harness.topology.dead) == true
                }
            }
        }
    }

    @Test func deadLettersAreListedSentBackAndDropped() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator(tick: .seconds(60)) { coordinator in
                try await eventually { coordinator.isServing }
                let slice = harness.topology.slice(SliceNumber(0))
                try await bury(harness, id: "m1", queue: slice, reason: "<b>bad</b>")
                try await bury(harness, id: "m2", queue: "no-queue-of-ours")
                try await bury(harness, id: "m3", queue: slice)
                let list = try await coordinator.request("GET", "dead-letters")
                expectTrue(list["of"] == "3" && list["letters.2.name"] != nil)
                let one = try await coordinator.request("GET", "dead-letters?reason=bad")
                expectTrue(one["letters.0.reason"] == "<b>bad</b>" && one["letters.1.name"] == nil)
                func name(of id: String) throws -> String {
                    let names = (0..<3).filter { list["letters.\($0).id"] == id }.compactMap {
                        list["letters.\($0).name"]
                    }
                    return try #require(names.first)
                }
                let (first, foreign, third) = (
                    try name(of: "m1"), try name(of: "m2"), try name(of: "m3")
                )
                try await expectTrue(coordinator.request("GET", "dead-letters/\(first)").text.contains(#"\"at\":1"#))
                try await expectEqual(coordinator.request("GET", "dead-letters/000000000000").status, 404)
                let id = try #require(list["letters.0.id"])
                let byID = try await coordinator.request("GET", "dead-letters?id=\(id)")
                expectTrue(byID["letters.0.id"] == id && byID["letters.1.id"] == nil)
                try await expectEqual(coordinator.request("GET", "dead-letters/\(id)")["letter.id"], id)
                expectTrue(list["groups.0.count"] != nil && list["groups.0.reason"] != nil)
                let back = try await coordinator.request(
                    "POST", "dead-letters/requeue", #"{"letters": ["\#(first)", "\#(foreign)", "000000000000"]}"#)
                expectTrue(
                    back["done.0"] == first && back["refused.0.name"] == foreign && back["missing.0"] == "000000000000")
                // The coordinator's own ticks come in between, if all of this takes long enough.
                while try await harness.next(TickMessage.self, in: slice).at != 1 {}
                let gone = try await coordinator.request("POST", "dead-letters/drop", #"{"letters": ["\#(third)"]}"#)
                expectEqual(gone["done.0"], third)
                try await expectTrue(coordinator.request("GET", "dead-letters")["letters.1.name"] == nil)
                for body in [#"{"letters": []}"#, "{}", #"{"all": false}"#, #"{"all": true, "limit": 0}"#] {
                    try await expectEqual(coordinator.request("POST", "dead-letters/drop", body).status, 400, "\(body)")
                }
            }
        }
    }

    /// Letters may be meant by what they have in common; two with the same content have one name.
    @Test func deadLettersAreMeantByConditions() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator(tick: .seconds(60)) { coordinator in
                try await eventually { coordinator.isServing }
                let slice = harness.topology.slice(SliceNumber(0))
                for id in ["m1", "m1", "m2"] { try await bury(harness, id: id, queue: slice, reason: "bad \(id)") }
                try await bury(harness, id: "m3", queue: "no-queue-of-ours", reason: "worse")
                let named = try await coordinator.request("GET", "dead-letters?id=m1&id=m3&limit=10&reach=50000")
                expectTrue(named["letters.2.id"] != nil && named["letters.3.id"] == nil && named["of"] == "4")
                let few = try await coordinator.request("GET", "dead-letters?reach=2")
                expectTrue(few["seen"] == "2" && few["of"] == "4", "\(few)")
                try await expectEqual(coordinator.request("GET", "dead-letters?reach=0").status, 400)
                let bodies = try await coordinator.request("GET", "dead-letters/bodies?id=m2")
                expectTrue(
                    bodies["letters.0.letter.id"] == "m2" && bodies["letters.0.body"]?.contains("\"at\"") == true
                        && bodies["left"] == "0", "\(bodies)")
                // What cannot be sent back stays, and does not keep the others.
                let back = try await coordinator.request(
                    "POST", "dead-letters/requeue", #"{"all": true, "limit": 50000}"#)
                expectTrue(
                    back["letters.2.name"] != nil && back["letters.3.name"] == nil && back["refused.0.reason"] != nil,
                    "\(back)")
                for _ in 0..<3 { while try await harness.next(TickMessage.self, in: slice).at != 1 {} }
                let gone = try await coordinator.request(
                    "POST", "dead-letters/drop", #"{"app": "tasks", "reason": "WORSE"}"#)
                expectTrue(gone["letters.0.id"] == "m3" && gone["done.1"] == nil, "\(gone)")
                try await expectEqual(coordinator.request("GET", "dead-letters")["of"], "0")
            }
        }
    }

    @Test func messagesAreSeenAsTheyPassByTypeAndApp() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                try await expectEqual(coordinator.request("GET", "messages/events?type=nothing").status, 400)
                let stream = try await coordinator.execute("GET", "messages/events?app=tasks")
                try await harness.channel.publish(
                    try AMQPMessage(AllowResetsMessage(app: "others", seconds: 5)), exchange: harness.topology.slices,
                    routingKey: "0", mandatory: true)
                try await harness.channel.publish(
                    try AMQPMessage(AllowResetsMessage(app: "tasks", seconds: 5)), exchange: harness.topology.slices,
                    routingKey: "0", mandatory: true)
                var text = ""
                for try await chunk in stream.body {
                    text += String(buffer: chunk)
                    if text.contains("allow-resets") { break }
                }
                expectTrue(
                    text.contains(#""app":"tasks""#) && !text.contains("others") && !text.contains(#""type":"tick""#))
            }
        }
    }

    @Test func theRealmOfAFlexibleAppIsLookedAtWithoutAPartition() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "flex", syncMode: .flexible, createdAt: 1))
            try await harness.makeRealm(RealmName(flexible: "flex"))
            try await harness.withCoordinator { coordinator in
                for part in ["", "/client-files", "/history", "/objects"] {
                    for query in ["", "?partition=", "?flexible=true"] {
                        let answer = try await coordinator.request("GET", "apps/flex/realm\(part)\(query)")
                        expectEqual(answer.status, 200, "\(part)\(query): \(answer.text)")
                    }
                    try await expectEqual(coordinator.request("GET", "apps/flex/realm\(part)?partition=nw").status, 404)
                }
                try await expectEqual(
                    coordinator.request("GET", "apps/flex/realm?flexible=true&partition=nw").status, 400)
                try await expectEqual(coordinator.request("GET", "messages/events?flexible=x").status, 400)
            }
        }
    }

    @Test func theDoctorAndStoredRealmsAreToBeSeen() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                _ = try await coordinator.request("POST", "apps", #"{"id": "tasks"}"#)
                try await harness.makeRealm(RealmName(app: "tasks", partition: "\"nw\""))
                let found = try await coordinator.request("GET", "doctor")
                expectTrue(found.text.contains("without an owner") && found.text.contains(#""level":"fault""#))
                let list = try await coordinator.request("GET", "apps/tasks/realms")
                expectTrue(list["realms.0.partition"] == "\"nw\"" && list["next"] == nil)
                let realm = "apps/tasks/realm"
                try await expectEqual(coordinator.request("GET", "\(realm)?partition=nw")["realm.generation"], "1")
                for part in ["client-files", "history", "objects"] {
                    try await expectEqual(
                        coordinator.request("GET", "\(realm)/\(part)?partition=nw").status, 200, "\(part)")
                }
                try await expectEqual(coordinator.request("GET", "\(realm)?partition=se").status, 404)
                try await expectEqual(coordinator.request("GET", realm).status, 400)
                try await expectEqual(coordinator.request("GET", "\(realm)/objects?partition=nw&after=x").status, 400)
                try await expectEqual(
                    coordinator.request("GET", "\(realm)/objects?partition=nw&class=None").status, 404)
                try await expectEqual(coordinator.request("GET", "apps/nobody/realms").status, 404)
                let reader = try #require(
                    try await coordinator.request("POST", "tokens", #"{"name": "ann", "role": "read"}"#)["token"])
                try await expectEqual(
                    coordinator.request("GET", "\(realm)/objects?partition=nw", token: reader).status, 403)
                try await expectEqual(
                    coordinator.request("GET", "\(realm)/history?partition=nw", token: reader).status, 200)
            }
        }
    }
}
