import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSupport
import SyncModel
import TestSupport
import Testing

/// What several processes do at once to one control store in PostgreSQL.
@Suite(.needsPostgres, .hangGuard) struct PostgresControlTests {
    /// Runs `body` with the stores of so many processes.
    private func withProcesses(_ count: Int, _ body: ([any ControlStore]) async throws -> Void) async throws {
        try await withPostgresSchema { schema in
            var stores: [any ControlStore] = []
            for _ in 0..<count { stores.append(try await PostgresControlStore.open(schema.client())) }
            try await body(stores)
        }
    }

    /// What every process gets that does the same at the same time.
    private func results<Value: Sendable & Hashable>(
        of stores: [any ControlStore], _ body: @escaping @Sendable (any ControlStore, Int) async throws -> Value
    ) async throws -> Set<Value> {
        try await withThrowingTaskGroup(of: Value.self) { group in
            for (index, store) in stores.enumerated() { group.addTask { try await body(store, index) } }
            return try await group.reduce(into: []) { $0.insert($1) }
        }
    }

    @Test func processesThatStartTogetherMakeOneStore() async throws {
        try await withPostgresSchema { schema in
            let clients = try (0..<6).map { _ in try schema.client() }
            let ids = try await withThrowingTaskGroup(of: String.self) { group in
                for client in clients {
                    group.addTask {
                        let store = try await PostgresControlStore.open(client)
                        return try await store.cluster(orCreate: .new(prefix: "sluice")).id
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            expectEqual(ids.count, 1)
        }
    }

    @Test func noChangeOfAnAppIsLost() async throws {
        try await withProcesses(3) { stores in
            try await stores[0].insert(AppRecord(id: "tasks", generation: 0, createdAt: 1))
            try await stores[0].insert(
                UserRecord(app: "tasks", id: "u", identities: [], email: nil, isDisabled: false, createdAt: 1))
            _ = try await results(of: stores) { store, index in
                for _ in 0..<10 {
                    _ = try await store.updateApp("tasks") { $0.generation += 1 }
                    try await store.setDisabled(true, app: "tasks", user: "u")
                }
                return index
            }
            let app = try await stores[1].app("tasks")
            expectTrue(app?.generation == 30 && app?.usersVersion == 30)
            try await expectEqual(stores[2].userChanges(app: "tasks", after: 0), ["u"])
        }
    }

    @Test func oneOfManyThatComeAtOnceWins() async throws {
        try await withProcesses(4) { stores in
            try await stores[0].insert(AppRecord(id: "tasks", createdAt: 1))
            let users = try await results(of: stores) { store, index in
                try await store.adopt(
                    UserRecord(
                        app: "tasks", id: "u\(index)", identities: [], email: nil, isDisabled: false, createdAt: 1),
                    provider: "custom-token", externalID: "x", profile: [:])
            }
            expectEqual(users.count, 1)
            try await expectEqual(stores[0].userCount(app: "tasks"), 1)
            let keys = try await results(of: stores) { store, index in
                try await store.signingKeys(
                    purpose: "access",
                    orCreate: SigningKeyRecord(id: "k\(index)", purpose: "access", privateKeyPEM: "", createdAt: 1)
                ).map(\.id)
            }
            expectTrue(keys.count == 1 && keys.first?.count == 1)
            try await stores[0].register(
                PasswordRecord(app: "tasks", email: "a@b", passwordHash: "h", userID: nil))
            let owners = try await results(of: stores) { store, index in
                try await store.adopt(
                    UserRecord(
                        app: "tasks", id: "v\(index)", identities: [], email: "a@b", isDisabled: false, createdAt: 1),
                    app: "tasks", email: "a@b")
            }
            expectEqual(owners.count, 1)
        }
    }

    @Test func campaignsAreChangedByOneAtATime() async throws {
        try await withProcesses(3) { stores in
            try await stores[0].insert(AppRecord(id: "tasks", generation: 1, createdAt: 1))
            _ = try await results(of: stores) { store, index in
                for _ in 0..<5 {
                    try await store.changeCampaigns { transaction in
                        var lookup = CampaignLookup()
                        lookup.apps = ["tasks"]
                        var changes = CampaignChanges()
                        changes.apps = Array(try transaction.read(lookup).apps.values)
                        changes.apps[0].generation += 1
                        try transaction.write(changes)
                    }
                }
                return index
            }
            try await expectEqual(stores[1].app("tasks")?.generation, 16)
        }
    }

    @Test func textsMayHaveAnyCharacter() async throws {
        try await withProcesses(1) { stores in
            try await stores[0].insert(AppRecord(id: "tasks", createdAt: 1))
            let odd = SchemaElement(className: "a\0b\u{FFFE}", type: "embedded")
            try await stores[0].extendSchema(ofApp: "tasks", with: [odd])
            try await expectEqual(stores[0].schema(ofApp: "tasks"), [odd])
        }
    }

    /// Whatever table names an app or a campaign, nothing is left in it of an app that was deleted.
    @Test func noTableOfTheSchemaIsForgotten() async throws {
        try await withPostgresSchema { schema in
            let client = try schema.client()
            let store = try await PostgresControlStore.open(client)
            for app in ["tasks", "other"] { try await store.insert(AppRecord(id: app, createdAt: 1)) }
            let columns = try await client.query(
                """
                SELECT table_name, column_name, data_type, is_identity FROM information_schema.columns
                WHERE table_schema = $1 AND table_name NOT LIKE 'app_deletion%' ORDER BY 1, ordinal_position
                """, .text(schema.name))
            var tables: [String: [(name: String, type: String)]] = [:]
            for row in columns where row.text(3) != "YES" {
                tables[row.text(0), default: []].append((row.text(1), row.text(2)))
            }
            tables = tables.filter { $0.value.contains { $0.name == "app" || $0.name == "campaign" } }
            expectTrue(tables.count > 10)
            for (table, columns) in tables {
                for app in ["tasks", "other"] {
                    let values = columns.map { column in
                        switch column.type {
                        case "bigint": "1"
                        case "boolean": "true"
                        case "bytea": "'\(app)'::bytea"
                        default: "'\(app)'"
                        }
                    }
                    let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
                    _ = try await client.execute(
                        "INSERT INTO \(table) (\(names)) VALUES (\(values.joined(separator: ", ")))")
                }
            }
            _ = try await store.deleteApp(AppDeletionRecord(app: "tasks", by: "me", at: 1, slices: 1))
            while try await store.removeRows(ofDeletedApp: "tasks", limit: 3) == 3 {}
            for (table, columns) in tables {
                let mark = columns.contains { $0.name == "app" } ? "app" : "campaign"
                let left = try await client.query("SELECT \(mark) FROM \(table)").map { $0.text(0) }
                expectEqual(left, ["other"], "\(table)")
            }
        }
    }
}
