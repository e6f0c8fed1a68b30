import Changesets
import Documents
import ExtendedJSON
import Foundation
import MessagingSupport
import RealmState
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

/// Searches for documents over HTTP.
@Suite(.hangGuard) struct DocumentReadingTests {
    private static let realm = RealmName(flexible: "notes")

    /// Ten notes, the even ones done.
    ///
    /// - Parameters:
    ///   - number: the realm's.
    ///   - hasOwner: whether the realm has met the notes' property.
    private func fill(
        _ harness: CoordinatorHarness, _ name: RealmName = DocumentReadingTests.realm, number: Int64 = 1,
        hasOwner: Bool = true
    ) async throws {
        let (store, epoch) = try await harness.owned(name.slice(of: harness.slices))
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("Note", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.addColumn("Note", "done", ElementType(type: .bool, nullable: false))
            if hasOwner { try transaction.addColumn("Note", "owner", ElementType(type: .string, nullable: true)) }
        }
        let mapping = DocumentMapping(schema: state.schema)
        let table = try mapping.table("Note")
        var record = RealmRecord(id: RealmID(number), name: name, generation: 1, salt: 1, saltEpoch: epoch)
        record.latest = SaltedServerVersion(version: 4, salt: 1)
        record.schema = state.schema.encoded()
        var batch = SliceBatch()
        batch.realms = [record]
        for key in 0..<10 as Range<Int64> {
            var document: BSONDocument = ["_id": BSONValue(key), "done": .bool(key % 2 == 0)]
            if hasOwner { document["owner"] = BSONValue("u\(key % 3)") }
            batch.objects[record.id, default: [:]][ObjectRow(table: table.id.rawValue, key: .int(key))] =
                try mapping.object(mapping.content(document, of: table), of: table).encoded()
        }
        try await store.commit(batch, epoch: epoch)
    }

    private func withNotes(_ body: (RunningCoordinator) async throws -> Void) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "notes", syncMode: .flexible, createdAt: 1))
            try await fill(harness)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                try await body(coordinator)
            }
        }
    }

    private func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private func get(_ coordinator: RunningCoordinator, _ path: String, _ query: [String: String]) async throws
        -> RunningCoordinator.Answer
    {
        let items = ["class=Note"] + query.sorted { $0.key < $1.key }.map { "\($0.key)=\(escaped($0.value))" }
        return try await coordinator.request(
            "GET", "apps/notes/documents\(path)\(path.contains("?") ? "" : "?")" + items.joined(separator: "&"))
    }

    @Test func documentsAreFoundByQueriesAndShownInPart() async throws {
        try await withNotes { coordinator in
            let found = try await get(
                coordinator, "", ["query": "done == true AND owner == 'u0'", "fields": #"{"owner":1}"#])
            expectEqual(found.text, #"{"documents":[{"_id":0,"owner":"u0"},{"_id":6,"owner":"u0"}]}"# + "\n")
            let count = try await get(coordinator, "/count", ["filter": #"{"done":false}"#])
            expectEqual(count.text, "{\"count\":5}\n")
            let owners = try await get(coordinator, "/distinct", ["field": "owner", "query": "_id < 2"])
            expectEqual(owners.text, #"{"values":["u0","u1"]}"# + "\n")
            let grouped = try await get(
                coordinator, "/aggregate",
                [
                    "pipeline":
                        #"[{"$match":{"done":true}},{"$group":{"_id":"$owner","n":{"$sum":1}}},{"$sort":{"_id":1}}]"#
                ])
            expectEqual(
                grouped.text, #"{"documents":[{"_id":"u0","n":2},{"_id":"u1","n":1},{"_id":"u2","n":2}]}"# + "\n")
            let explained = try await get(coordinator, "/explain", ["filter": #"{"owner":"u1"}"#])
            expectTrue(
                explained["way"] == "class" && explained["examined"] == "10" && explained["version"] == "4",
                "\(explained)")
        }
    }

    @Test func aStreamIsOfOneMomentAndSaysWhereItEnds() async throws {
        try await withNotes { coordinator in
            let all = try await get(coordinator, "/stream", ["filter": #"{"done":true}"#])
            expectEqual(all.status, 200)
            expectEqual(all.text.components(separatedBy: "event: document\n").count, 6)
            expectTrue(all.text.hasSuffix("event: end\ndata: {\"version\":4,\"count\":5}\n\n"), "\(all.text)")
            // What cannot be searched for is said before anything is sent.
            let wrong = try await get(coordinator, "/stream", ["filter": #"{"nothing":1}"#])
            expectTrue(wrong.status == 422 && wrong["error"] == "unknown_field", "\(wrong)")
        }
    }

    @Test func realmsAreVerifiedOneAfterTheOther() async throws {
        try await withPartitions { coordinator in
            // What these realms hold is not what their histories make.
            let all = try await coordinator.request("GET", "realms/verify")
            expectEqual(all.text.components(separatedBy: "event: verdict\n").count, 4)
            expectTrue(all.text.hasSuffix("event: end\ndata: {\"realms\":3}\n\n"), "\(all.text)")
            let one = try await coordinator.request("GET", "realms/verify?app=notes&partition=empty")
            expectTrue(
                one.text.hasPrefix("event: verdict\ndata: {\"app\":\"notes\"")
                    && one.text.contains("\"replay\":")
                    && one.text.hasSuffix("event: end\ndata: {\"realms\":1}\n\n"), "\(one.text)")
            let none = try await coordinator.request("GET", "realms/verify?app=others")
            expectEqual(none.text, "event: end\ndata: {\"realms\":0}\n\n")
            for (query, status) in [
                ("app=notes&partition=away", 404), ("partition=nw", 400), ("app=notes&partition=nw&flexible=true", 400),
                ("app=notes&flexible=true", 404),
            ] {
                let answer = try await coordinator.request("GET", "realms/verify?\(query)")
                expectTrue(answer.status == status, "\(query): \(answer)")
            }
        }
    }

    @Test func viewsAreExplainedToOperators() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "notes", syncMode: .flexible, createdAt: 1))
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.store.insert(
                UserRecord(app: "notes", id: "u1", identities: [], email: nil, isDisabled: true, createdAt: 1))
            try await fill(harness)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                func explain(_ query: String, app: String = "notes") async throws -> RunningCoordinator.Answer {
                    try await coordinator.request("GET", "apps/\(app)/views/explain?\(query)")
                }
                let query = "user=u1&query=\(escaped(#"{"Note":"done == true"}"#))"
                let report = try await explain(query + "&class=Note&id=4")
                expectTrue(report.text.contains(#""isDisabled":true"#) && report["rulesVersion"] == "0", "\(report)")
                expectTrue(
                    report["views.0.classes.0.objects"] == "10" && report["views.0.classes.0.selected"] == "5"
                        && report["views.0.classes.0.inView"] == "0" && report["views.0.client"] == nil, "\(report)")
                expectTrue(
                    report["views.0.objects.0.key"] == "4" && report.text.contains(#""isSelected":true"#), "\(report)"
                )
                // The store knows no client of the user.
                try await expectEqual(explain("user=u1")["views.0.queries"], nil)
                let mistakes: [(String, String, Int)] = [
                    ("user=nobody", "notes", 404), ("", "notes", 400), ("user=u1&id=4", "notes", 400),
                    ("user=u1&limit=0", "notes", 400),
                    ("user=u1&query=%7B%22Note%22%3A%22done%20%3D%3D%22%7D", "notes", 422),
                    ("user=u1", "tasks", 409), ("user=u1", "nothing", 404),
                ]
                for (query, app, status) in mistakes {
                    let answer = try await explain(query, app: app)
                    expectTrue(answer.status == status, "\(query) \(app): \(answer)")
                }
            }
        }
    }

    /// Documents of an app in partition mode, of all its realms, each behind the realm's name.
    @Test func aStreamWithoutAPartitionIsOfAllRealms() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "notes", createdAt: 1))
            let realm = RealmName(app: "notes", partition: "\"nw\"")
            try await fill(harness, realm)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                let all = try await get(coordinator, "/stream", ["filter": #"{"done":true}"#, "limit": "3"])
                let heading = #"event: realm\#ndata: {"realm":{"app":"notes","partition":"\"nw\""},"version":4}"#
                expectTrue(all.text.hasPrefix(heading + "\n\nevent: document\n"), "\(all.text)")
                expectTrue(
                    all.text.hasSuffix("event: end\ndata: {\"realms\":1,\"count\":3}\n\n"), "\(all.text)")
                let sorted = try await get(coordinator, "/stream", ["sort": #"{"done":1}"#])
                expectTrue(sorted.status == 400 && sorted["error"] == "invalid_request", "\(sorted)")
            }
        }
    }

    private static func partition(_ value: String) -> RealmName { RealmName(app: "notes", partition: "\"\(value)\"") }

    /// Realms of an app in partition mode: two with notes, of which one has not met their owner, and one that has met no class.
    private func withPartitions(_ body: (RunningCoordinator) async throws -> Void) async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "notes", createdAt: 1))
            try await harness.store.extendSchema(
                ofApp: "notes",
                with: [
                    SchemaElement(className: "Note", type: "object(_id: int)"),
                    SchemaElement(className: "Note", property: "done", type: "bool"),
                    SchemaElement(className: "Note", property: "owner", type: "string?"),
                    SchemaElement(className: "Idea", type: "object(_id: int)"),
                ])
            try await fill(harness, Self.partition("nw"))
            try await fill(harness, Self.partition("se"), number: 2, hasOwner: false)
            try await harness.addRealm(Self.partition("empty"), number: 3)
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                try await body(coordinator)
            }
        }
    }

    @Test func answersAreOfSeveralPartitionsTogether() async throws {
        try await withPartitions { coordinator in
            let both = "partition=nw&partition=se&partition=nw"
            for realms in ["allPartitions=true", both] {
                func answer(_ path: String, _ query: [String: String]) async throws -> String {
                    try await get(coordinator, path + "?\(realms)&", query).text
                }
                try await expectEqual(answer("/count", [:]), #"{"count":20,"realms":2}"# + "\n")
                // A realm that has not met a property has its default in every object.
                try await expectEqual(
                    answer("/count", ["filter": #"{"owner":null,"done":true}"#]), #"{"count":5,"realms":2}"# + "\n")
                try await expectEqual(
                    answer("/distinct", ["field": "owner"]), #"{"values":[null,"u0","u1","u2"],"realms":2}"# + "\n")
                let groups =
                    #"[{"$match":{"done":true}},{"$group":{"_id":"$owner","n":{"$sum":1},"mean":{"$avg":"$_id"}}},{"$sort":{"_id":1}}]"#
                try await expectEqual(
                    answer("/aggregate", ["pipeline": groups]),
                    #"{"documents":[{"_id":null,"n":5,"mean":4.0},{"_id":"u0","n":2,"mean":3.0},{"_id":"u1","n":1,"mean":4.0},{"_id":"u2","n":2,"mean":5.0}],"realms":2}"#
                        + "\n")
            }
            let some = try await get(coordinator, "/stream?\(both)&", ["filter": #"{"owner":"u0"}"#])
            expectTrue(
                some.text.hasPrefix(#"event: realm\#ndata: {"realm":{"app":"notes","partition":"\"nw\""}"#)
                    && some.text.hasSuffix("event: end\ndata: {\"realms\":1,\"count\":4}\n\n"), "\(some.text)")
            // What the realm has not met is no part of its documents.
            let all = try await get(coordinator, "/stream?partition=empty&partition=se&", ["limit": "1"])
            expectTrue(all.text.contains(#"data: {"_id":0,"done":true}"#), "\(all.text)")
        }
    }

    @Test func mistakesInSeveralPartitionsAreNamed() async throws {
        try await withPartitions { coordinator in
            let many = (0...100).map { "partition=p\($0)" }.joined(separator: "&")
            let answers: [(String, [String: String], Int, String, String)] = [
                ("", [:], 400, "invalid_request", "name the realm's partition"),
                ("allPartitions=true&partition=nw", [:], 400, "invalid_request", "no partition beside it"),
                ("allPartitions=maybe", [:], 400, "invalid_request", "expected true or false"),
                ("flexible=true&allPartitions=true", [:], 400, "invalid_request", "has no partitions"),
                (many, [:], 400, "invalid_request", "at most 100"),
                ("partition=nw&partition=away", [:], 404, "not_found", "away"),
                ("allPartitions=true", ["filter": #"{"title":"x"}"#], 422, "unknown_field", "partition \""),
                ("allPartitions=true", ["user": "nobody"], 404, "not_found", "nobody"),
            ]
            for (realms, query, status, error, words) in answers {
                let answer = try await get(coordinator, "/count?\(realms)&", query)
                expectTrue(
                    answer.status == status && answer["error"] == error && answer["message"]?.contains(words) == true,
                    "\(realms) \(query): \(answer)")
            }
            func count(_ className: String) async throws -> RunningCoordinator.Answer {
                try await coordinator.request(
                    "GET", "apps/notes/documents/count?allPartitions=true&class=\(className)")
            }
            // A class that the app has and no realm yet is not unknown.
            try await expectEqual(count("Idea").text, #"{"count":0,"realms":0}"# + "\n")
            let unknown = try await count("Plan")
            expectTrue(unknown.status == 422 && unknown["error"] == "unknown_class", "\(unknown)")
        }
    }

    @Test func whoHasNoRoleFindsNothingAndMistakesAreNamed() async throws {
        try await withNotes { coordinator in
            let answers: [(String, [String: String], Int, String)] = [
                ("", ["user": "nobody"], 404, "not_found"),
                ("", ["filter": "{}", "query": "done == true"], 400, "invalid_request"),
                ("", ["query": "done =="], 422, "invalid_write"),
                ("/distinct", [:], 400, "invalid_request"), ("/aggregate", [:], 400, "invalid_request"),
                ("/aggregate", ["pipeline": "{}"], 400, "invalid_request"),
                ("/aggregate", ["pipeline": #"[{"$lookup":{}}]"#], 422, "unsupported_operator"),
                ("/stream", ["after": "0.i.1"], 400, "invalid_request"),
            ]
            for (path, query, status, error) in answers {
                let answer = try await get(coordinator, path, query)
                expectTrue(answer.status == status && answer["error"] == error, "\(path) \(query): \(answer)")
            }
        }
    }
}
