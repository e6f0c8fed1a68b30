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
    private func fill(_ harness: CoordinatorHarness, _ name: RealmName = DocumentReadingTests.realm) async throws {
        let slice = name.slice(of: harness.slices)
        let store = try await SQLiteStores(folder: harness.folder).store(for: slice)
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 2, gone: nil) else {
            throw TestBrokerError("slice \(slice) is owned")
        }
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("Note", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.addColumn("Note", "done", ElementType(type: .bool, nullable: false))
            try transaction.addColumn("Note", "owner", ElementType(type: .string, nullable: true))
        }
        let mapping = DocumentMapping(schema: state.schema)
        let table = try mapping.table("Note")
        var record = RealmRecord(id: RealmID(1), name: name, generation: 1, salt: 1, saltEpoch: epoch)
        record.latest = SaltedServerVersion(version: 4, salt: 1)
        record.schema = state.schema.encoded()
        var batch = SliceBatch()
        batch.realms = [record]
        for key in 0..<10 as Range<Int64> {
            let document: BSONDocument = [
                "_id": BSONValue(key), "done": .bool(key % 2 == 0), "owner": BSONValue("u\(key % 3)"),
            ]
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
        let items = query.sorted { $0.key < $1.key }.map { "\($0.key)=\(escaped($0.value))" }
        return try await coordinator.request(
            "GET", "apps/notes/documents\(path)?class=Note&" + items.joined(separator: "&"))
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
