import Foundation
import LocalCluster
import TestSupport
import Testing

extension ShakenPostgresClusterTests {
    /// Documents of apps in flexible mode whose store is in PostgreSQL: in from files, out again, and onward to who follows.
    @Suite struct FlexibleDocumentTests {
        private struct Verdict: Decodable {
            var objects: Int
            var digest: String?
        }

        private static let schema = #"""
            [{"op": "AddTable", "class": "Place", "embedded": true},
             {"op": "AddColumn", "class": "Place", "field": "city", "type": "string", "nullable": true},
             {"op": "AddTable", "class": "Note", "key": {"name": "_id", "type": "objectId"}},
             {"op": "AddColumn", "class": "Note", "field": "text", "type": "string", "nullable": false},
             {"op": "AddColumn", "class": "Note", "field": "price", "type": "decimal", "nullable": true},
             {"op": "AddColumn", "class": "Note", "field": "share", "type": "double", "nullable": true},
             {"op": "AddColumn", "class": "Note", "field": "at", "type": "date", "nullable": true},
             {"op": "AddColumn", "class": "Note", "field": "tags", "type": "string", "nullable": false, "collection": "list"},
             {"op": "AddColumn", "class": "Note", "field": "seen", "type": "uuid", "nullable": false, "collection": "set"},
             {"op": "AddColumn", "class": "Note", "field": "meta", "type": "mixed", "nullable": true, "collection": "dictionary", "keyType": "string"},
             {"op": "AddColumn", "class": "Note", "field": "place", "type": "link", "nullable": true, "target": "Place"},
             {"op": "AddColumn", "class": "Note", "field": "next", "type": "link", "nullable": true, "target": "Note"}]
            """#

        private func document(_ number: Int) -> String {
            let (id, next) = (Self.id(number), Self.id(number + 1))
            return #"""
                {"_id": {"$oid": "\#(id)"}, "text": "ü \#(number)\u0000", "price": {"$numberDecimal": "\#(number).50"}, \#
                "share": \#(Double(number) / 3), "at": {"$date": {"$numberLong": "\#(number * 1_001 - 5_000)"}}, \#
                "tags": ["a", "", "a"], "seen": [{"$uuid": "01234567-89ab-4def-8123-\#(id.suffix(12))"}], \#
                "meta": {"n": \#(number), "deep": {"list": [1, null, {"$ref": "Note", "$id": {"$oid": "\#(next)"}}]}}, \#
                "place": {"city": "Rome"}, "next": {"$oid": "\#(next)"}}
                """#.replacing("\n", with: "")
        }

        private static func id(_ number: Int) -> String { String(repeating: "0", count: 20) + "\(1_000 + number)" }

        private func makeApp(_ cluster: LocalCluster) async throws -> String {
            let app = try await cluster.newApp("--sync-mode", "flexible")
            _ = try await cluster.operate("apps", "set", app, "--change-feed", "documents")
            let made = try await cluster.operate(
                "publish", "changeset", "--wait", "--app", app, "--flexible", "--instructions", Self.schema)
            expectTrue(made.contains("integrated as version"), "\(made)")
            return app
        }

        private func digest(_ app: String, _ cluster: LocalCluster) async throws -> String {
            let verdict = try await cluster.operateJSON(Verdict.self, "realms", "verify", "--app", app)
            expectEqual(verdict.objects, 60)
            return try #require(verdict.digest)
        }

        @Test func whatIsExportedIsImportedAgainAndEqualByDigestAndWhoFollowsIsTold() async throws {
            let cluster = try SharedCluster.cluster
            let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)").path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try FileManager.default.createDirectory(atPath: "\(folder)/one", withIntermediateDirectories: true)
            let first = try await makeApp(cluster)
            // Documents from a file, one of which a backend changes afterwards.
            let lines = (0..<60).map { document($0) + "\n" }
            try lines.joined().write(toFile: "\(folder)/Note.ndjson", atomically: true, encoding: .utf8)
            _ = try await cluster.operate("documents", "import", "--app", first, "\(folder)/Note.ndjson")
            _ = try await cluster.operate(
                "documents", "update", "--app", first, "Note", #"{"$oid": "\#(Self.id(7))"}"#, "--apply",
                #"{"$set": {"place.city": "Bari"}, "$push": {"tags": "z"}}"#)
            for format in ["json", "bson"] {
                _ = try await cluster.operate(
                    "documents", "export", "--app", first, "--to", "\(folder)/\(format)", "--format", format)
                let copy = try await makeApp(cluster)
                _ = try await cluster.operate("documents", "import", "--app", copy, "\(folder)/\(format)")
                try await expectEqual(digest(copy, cluster), digest(first, cluster), "\(format)")
            }
            // The state, as who begins to follow is told it, is what is found.
            let found = try await cluster.operate("documents", "find", "--app", first, "Note", "--limit", "100")
            var told: [Substring] = []
            try await eventually("the feed is old enough to be told from its beginning") {
                guard
                    let state = try? await cluster.operate(
                        "changes", "follow", first, "--from", "start", "--once", "--json")
                else { return false }
                told = state.split(separator: "\n")
                return true
            }
            expectEqual(told.count, 61)
            for line in found.split(separator: "\n") {
                expectTrue(told.contains { $0.contains("\"document\":\(line)") }, "\(line)")
            }
            let places = try told.suffix(1).map { try #require($0.firstMatch(of: /"id":"([^"]+)"/)?.output.1) }
            _ = try await cluster.operate(
                "documents", "delete", "--app", first, "Note", #"{"$oid": "\#(Self.id(3))"}"#)
            let since = try await cluster.operate(
                "changes", "follow", first, "--from", String(places[0]), "--once", "--json")
            expectTrue(since.contains(#""document":null"#) && since.contains(Self.id(3)), "\(since)")
            expectEqual(since.split(separator: "\n").count, 2)
        }
    }
}
