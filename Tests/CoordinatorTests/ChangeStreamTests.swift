import AMQP
import AsyncHTTPClient
import Changesets
import ExtendedJSON
import Messages
import NIOCore
import NIOHTTP1
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// What is done to an app's documents, followed over HTTP.
@Suite(.hangGuard) struct ChangeStreamTests {
    private static let realm = RealmName(app: "tasks", partition: "\"nw\"")
    private static let history = AppRecord(id: "tasks", createdAt: 1).history(after: nil)

    private func publish(
        _ harness: CoordinatorHarness, _ place: String, follows: String? = nil, class className: String = "Task",
        app: String = "tasks", bytes: Int = 0
    ) async throws {
        let place = try #require(ChangePlace(place))
        let before = ChangePredecessors(inRealm: follows.flatMap { ChangePlace($0) })
        let realm = RealmName(app: app, partition: "\"nw\"")
        var change: BSONDocument = ["class": BSONValue(className), "operation": "delete", "key": 7]
        if bytes > 0 { change["document"] = ["x": BSONValue(String(repeating: "x", count: bytes))] }
        let message = try AMQPMessage(
            ChangesMessage(
                realm: realm, history: Self.history,
                changes: [
                    FeedChange(
                        realm: realm, history: Self.history, place: place, follows: before, writtenAt: 5, change: change
                    )
                ]),
            id: ChangesMessage.id(realm: realm, at: FeedPlace(place, of: Self.history)))
        try await harness.channel.publish(
            message, exchange: harness.topology.changes,
            routingKey: Topology.changeKey(app: app, class: .init(className), operation: "delete"))
    }

    private func read(_ response: HTTPClientResponse, until word: String) async throws -> String {
        var text = ""
        for try await chunk in response.body {
            text += String(buffer: chunk)
            if text.contains(word) { break }
        }
        return text
    }

    private func withFollowed(
        followerBytes: Int64? = nil, _ body: (CoordinatorHarness, RunningCoordinator) async throws -> Void
    ) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(
                AppRecord(id: "tasks", changeFeed: ChangeFeedSetting(.keys, since: 1), createdAt: 1))
            try await harness.makeRealm(Self.realm)
            try await harness.withCoordinator(followerBytes: followerBytes) { coordinator in
                try await eventually { coordinator.isServing }
                try await body(harness, coordinator)
            }
        }
    }

    @Test func changesAreSeenAsTheyComeByClass() async throws {
        try await withFollowed { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes?class=Task")
            expectEqual(stream.headers.first(name: "Content-Type"), "text/event-stream")
            try await publish(harness, "1.4.0", class: "Other")
            try await publish(harness, "1.4.1", app: "others")
            try await publish(harness, "1.5.0")
            let text = try await read(stream, until: #""version":5"#)
            expectTrue(
                text.hasPrefix("event: ready\ndata: {}\n\n") && !text.contains("\"Other\"") && !text.contains("others"),
                "\(text)")
        }
    }

    @Test func theStateComesFirstAndThenWhatIsBehindIt() async throws {
        try await withFollowed { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes?from=start&partition=nw")
            // The realm is at version 0: what is not behind it was told with its documents.
            try await publish(harness, "1.0.0")
            try await publish(harness, "0.9.0")
            try await publish(harness, "1.1.0")
            let text = try await read(stream, until: "id: 1.1.0")
            expectTrue(text.hasPrefix("event: state\nid: 1.0@\(Self.history)\n"), "\(text)")
            expectTrue(text.contains("\"history\":\"\(Self.history)\""), "\(text)")
            expectTrue(
                text.contains("event: ready") && !text.contains("id: 1.0.0") && !text.contains("0.9.0"), "\(text)")
        }
    }

    /// Nothing is told behind what is missing: who goes on from the last place gets it.
    @Test func aStreamEndsWhereAChangeIsMissing() async throws {
        try await withFollowed { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes?from=start&partition=nw")
            try await publish(harness, "1.1.0", follows: "1.0.0")
            try await publish(harness, "1.3.0", follows: "1.2.0")
            let text = try await read(stream, until: "interrupted")
            expectTrue(text.contains("id: 1.1.0") && !text.contains("id: 1.3.0"), "\(text)")
            expectTrue(text.contains("has lost a change"), "\(text)")
        }
    }

    @Test func aStreamEndsAtChangesThatCannotBeRead() async throws {
        try await withFollowed { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes?from=start&partition=nw")
            try await publish(harness, "1.1.0", follows: "1.0.0")
            try await harness.channel.publish(
                AMQPMessage(body: Array("{}".utf8), properties: AMQPProperties(type: ChangesMessage.type)),
                exchange: harness.topology.changes, routingKey: "tasks.Task.update")
            let text = try await read(stream, until: "interrupted")
            expectTrue(text.contains("id: 1.1.0") && text.contains("event: error"), "\(text)")
        }
    }

    @Test func whoCannotBeToldHearsWhy() async throws {
        try await withFollowed { harness, coordinator in
            for (query, status, error) in [
                ("?from=never", 400, "invalid_request"), ("?from=1.2.0", 400, "invalid_request"),
                ("?from=1.2.0&partition=nw", 410, "place_gone"), ("?from=2.0&partition=nw", 410, "place_gone"),
                ("?from=1.0&partition=se", 410, "place_gone"),
                ("?from=1.0@0&partition=nw", 410, "place_gone"), ("?from=1.0@&partition=nw", 400, "invalid_request"),
            ] {
                let answer = try await coordinator.request("GET", "apps/tasks/changes\(query)")
                expectTrue(answer.status == status && answer["error"] == error, "\(query): \(answer)")
            }
            _ = try await harness.store.updateApp("tasks") { $0.changeFeed.set(.off, at: 5) }
            let off = try await coordinator.request("GET", "apps/tasks/changes")
            expectTrue(off.status == 409 && off["error"] == "feed_off")
            let fresh = try await coordinator.request("PATCH", "apps/tasks", #"{"changeFeed":"keys"}"#)
            expectEqual(fresh.status, 200)
            let early = try await coordinator.request("GET", "apps/tasks/changes?from=start")
            expectTrue(early.status == 503 && early["error"] == "feed_new", "\(early)")
            try await expectEqual(coordinator.request("GET", "apps/none/changes").status, 404)
        }
    }

    @Test func aFeedThatIsTurnedOffEndsItsStreams() async throws {
        try await withFollowed { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes")
            _ = try await harness.store.updateApp("tasks") { $0.changeFeed.set(.off, at: 5) }
            let text = try await read(stream, until: "never")
            expectTrue(text.contains("event: error") && text.contains("feed_off"), "\(text)")
        }
    }

    /// A follower that reads too slowly is told so, and nothing behind what is missing.
    @Test func aFollowerWhoseChangesTakeTooMuchIsToldThatItIsTooSlow() async throws {
        try await withFollowed(followerBytes: 1 << 20) { harness, coordinator in
            let stream = try await coordinator.execute("GET", "apps/tasks/changes?partition=nw")
            // More than connections and buffers hold while nobody reads.
            for version in 1...64 { try await publish(harness, "1.\(version).0", bytes: 1 << 20) }
            var lines: [String] = []
            var rest: [UInt8] = []
            for try await chunk in stream.body {
                var parts = Array(chunk.readableBytesView).split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                let last = parts.removeLast()
                if let first = parts.first {
                    lines.append(String(decoding: (rest + first).prefix(200), as: UTF8.self))
                    lines += parts.dropFirst().map { String(decoding: $0.prefix(200), as: UTF8.self) }
                    rest = []
                }
                rest += last
            }
            let ids = lines.filter { $0.hasPrefix("id: ") }
            let told = (1...64).prefix(ids.count).map { "id: 1.\($0).0@\(Self.history)" }
            expectTrue(ids.count < 64 && ids == told, "\(ids)")
            expectTrue(lines.suffix(3).contains { $0.contains("too_slow") }, "\(lines.suffix(3))")
        }
    }
}
