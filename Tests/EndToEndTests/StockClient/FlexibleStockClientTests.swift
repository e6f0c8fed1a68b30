import Changesets
import Foundation
import LocalCluster
import SyncModel
import SyncProtocol
import TestSupport
import Testing

extension SharedClusterTests {
    /// Stock clients in flexible mode, from the command that makes the app to what each of them holds, while gateways and workers die.
    @MainActor @Suite struct FlexibleStockClientTests {
        /// Everybody reads and writes what is theirs.
        private static let rules = #"""
            {"queryable": {"global": ["owner", "name"]}, "defaultRoles": [{"name": "own", "apply_when": {}, "read": true, "write": true,
             "document_filters": {"read": {"owner": "%%user.id"}, "write": {"owner": "%%user.id"}}}]}
            """#

        @MainActor
        private final class Device {
            let user: StockUser
            let file = StockFile()
            var connection: StockConnection
            var session: SessionIdent = 1
            var active = QuerySet(version: 0, text: "{}")

            init(_ user: StockUser) async throws {
                self.user = user
                connection = try await user.connect(mode: .flexible)
                try await open()
            }

            func reconnect() async throws {
                await connection.close()
                connection = try await user.connect(mode: .flexible)
                try await open()
            }

            private func open() async throws {
                session = try await connection.open(FlexibleTarget().text, file, query: active)
            }

            var received: StockConnection.Session {
                get throws { try #require(connection.sessions[session]) }
            }

            func subscribe(_ version: UInt64, _ query: String) async throws {
                let set = QuerySet(version: QueryVersion(version), queries: ["Task": query])
                try await connection.send(.query(Query(session: session, query: set)))
                try await connection.wait("set \(version) is there") { connection in
                    connection.sessions[self.session]?.downloads.contains {
                        $0.batch?.queryVersion == set.version && $0.batch?.state == .lastInBatch
                    } == true
                }
                active = set
                try await connection.download(session)
            }

            func upload(_ changeset: [UInt8]) async throws { try await connection.upload(changeset, session) }
            func has(_ key: String) -> Bool { file.image.has("Task", key) }
        }

        private static func task(_ id: String, owner: String, name: String = "n") -> [UInt8] {
            var changeset = Changeset()
            let table = changeset.strings.intern("Task")
            let key = PrimaryKey.string(changeset.strings.intern(ByteString(id)))
            changeset.instructions.append(.createObject(table: table, object: key))
            for (field, value) in [("owner", owner), ("name", name)] {
                let field = changeset.strings.intern(ByteString(field))
                changeset.instructions.append(
                    .update(
                        .init(
                            target: FieldPath(table: table, object: key, field: field),
                            value: .string(ByteString(value)),
                            qualifier: .isDefault(false))))
            }
            return changeset.encoded()
        }

        private static func schema() -> [UInt8] {
            var changeset = Changeset()
            let table = changeset.strings.intern("Task")
            changeset.instructions.append(
                .addTable(
                    .init(
                        table: table,
                        kind: .topLevel(
                            keyField: changeset.strings.intern("_id"), keyType: .string, keyNullable: false,
                            asymmetric: false))))
            for name in ["owner", "name"] {
                changeset.instructions.append(
                    .addColumn(
                        .init(
                            table: table, field: changeset.strings.intern(ByteString(name)), type: .string,
                            nullable: true,
                            collection: .single)))
            }
            return changeset.encoded()
        }

        private struct Explained: Decodable {
            struct View: Decodable {
                struct Class: Decodable { var objects, inView: Int }
                struct Object: Decodable { var isSelected, isVisible: Bool }
                var classes: [Class]
                var objects: [Object]
            }
            var views: [View]
        }

        @Test func eachSeesItsOwnAndWhatIsNotAllowedIsUndone() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            try await cluster.setRules(Self.rules, of: cluster.app)
            let first = try await Device(try await StockUser(cluster))
            let second = try await Device(try await StockUser(cluster))
            try await first.upload(Self.schema())
            try await first.subscribe(1, "TRUEPREDICATE")
            try await second.subscribe(1, "name != \"hidden\"")
            try await first.upload(Self.task("mine", owner: first.user.id))
            try await second.upload(Self.task("yours", owner: second.user.id))

            // What the role does not allow is told, with the reason, and taken back.
            try await first.upload(Self.task("stolen", owner: second.user.id))
            try await first.connection.wait("231") { $0.sessions[first.session]?.compensations.isEmpty == false }
            let error = try #require(try first.received.compensations.first)
            expectEqual(error.body.rejectedUpdates?.first?.reason, #"write to "stolen" in table "Task" not allowed"#)
            try await first.connection.download(first.session)
            expectTrue(!first.has("stolen"))
            // And so is what is outside of the view.
            try await second.upload(Self.task("outside", owner: second.user.id, name: "hidden"))
            try await second.connection.wait("231") { $0.sessions[second.session]?.compensations.isEmpty == false }
            let reason = try #require(try second.received.compensations.first?.body.rejectedUpdates?.first?.reason)
            expectTrue(reason.hasSuffix("not allowed; object is outside of the current query view"))

            // A bad set is refused, and the session goes on.
            try await second.connection.send(
                .query(
                    Query(session: second.session, query: QuerySet(version: 2, queries: ["Nothing": "a == 1"]))))
            try await second.connection.wait("a query error") {
                $0.sessions[second.session]?.queryErrors.isEmpty == false
            }
            try expectEqual(second.received.queryErrors.first?.message.contains("Nothing"), true)

            // Other devices of the users get what is theirs, and nothing else, whatever dies meanwhile.
            let third = try await Device(first.user)
            try await third.subscribe(1, "TRUEPREDICATE")
            expectTrue(third.has("mine") && !third.has("yours") && !third.has("stolen"))
            try await first.upload(Self.task("later", owner: first.user.id))
            try await third.connection.wait("later") { _ in third.has("later") }
            expectTrue(!third.file.image.has("Task", "yours"))
            expectTrue(!second.has("mine") && !second.has("later"))

            // What is stored is sound, and says the same.
            try await cluster.operate("realms", "verify", "--app", cluster.app)
            try await cluster.operate("realms", "show", "--app", cluster.app, "--flexible")
            let told = try await cluster.operateJSON(
                Explained.self, "views", "explain", "--app", cluster.app, "--user", second.user.id, "--class", "Task",
                "--object", "mine")
            let view = try #require(told.views.first)
            expectTrue(view.classes.first?.objects == 3 && view.classes.first?.inView == 1)
            expectTrue(view.objects.first?.isSelected == true && view.objects.first?.isVisible == false)
        }

        /// The author of a bad query is told what is wrong with it, whatever it asks, and goes on; nobody else notices.
        @Test func badQueriesAreRefusedAndTheSessionGoesOn() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp("--sync-mode", "flexible")
            let careless = try await Device(try await StockUser(cluster))
            let other = try await Device(try await StockUser(cluster))
            try await other.upload(Self.schema())
            try await other.subscribe(1, "TRUEPREDICATE")
            let many = Array(repeating: "name == 'a'", count: 250_000).joined(separator: " OR ")
            let bad: [(query: String, reason: String)] = [
                ("colour == 'red'", "colour"),
                ("name ==", "at byte 7"),
                ("name == 7", "name"),
                ("name MATCHES 'a.*'", "MATCHES"),
                ("name == '\(String(repeating: "x", count: 257 << 10))'", "bytes"),
                (many, "bytes"),
                (String(repeating: "NOT ", count: 20_000) + "name == 'a'", "nesting"),
            ]
            for (index, (query, reason)) in bad.enumerated() {
                let set = QuerySet(version: QueryVersion(UInt64(index + 1)), queries: ["Task": query])
                try await careless.connection.send(.query(Query(session: careless.session, query: set)))
                try await careless.connection.wait("a query error for set \(index + 1)") {
                    $0.sessions[careless.session]?.queryErrors.count ?? 0 > index
                }
                let error = try #require(try careless.received.queryErrors.last)
                expectTrue(error.queryVersion == set.version && error.message.count < 2_000)
                expectTrue(error.message.contains(reason), "\(error.message.prefix(200))")
                try await other.upload(Self.task("\(index)", owner: "anybody"))
            }
            try await careless.subscribe(UInt64(bad.count + 1), "owner == 'anybody' AND name == 'n'")
            expectTrue(bad.indices.allSatisfy { careless.has("\($0)") })
        }
    }
}
