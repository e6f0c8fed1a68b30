import Logging
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSupport
import SyncModel
import TestSupport
import Testing

/// What operators make of a database, and what each role may do there.
@Suite(.needsPostgres, .hangGuard) struct PostgresInstallationTests {
    /// Returns the URL for another role of the server's, with a password.
    private func url(_ url: String, user: String, password: String) -> String {
        let scheme = url.prefix { $0 != "/" } + "//"
        let rest = url.dropFirst(scheme.count)
        let host = rest.contains("@") ? rest[rest.index(after: rest.lastIndex(of: "@") ?? rest.startIndex)...] : rest
        return "\(scheme)\(user):\(password)@\(host)"
    }

    @Test func tablesAreMadeOnceAndStay() async throws {
        try await withPostgresSchema { schema in
            let installation = PostgresInstallation(try schema.client())
            let missing = await #expect(throws: StoreError.self) { try await installation.require() }
            expectTrue(missing?.code == .notFound && missing?.message.contains("sluice store init") == true)
            try await expectTrue(installation.make())
            try await expectTrue(!installation.make())
            try await expectTrue(installation.migrate().isEmpty)
            let facts = try await installation.facts()
            expectTrue(facts.parts.allSatisfy { $0.version == $0.latest } && facts.mayChangeTables && !facts.isReadOnly)
        }
    }

    @Test(arguments: [0, 99]) func tablesOfOtherVersionsAreRefusedWithWhatToDo(_ version: Int) async throws {
        try await withPostgresSchema { schema in
            let client = try schema.client()
            let installation = PostgresInstallation(client)
            _ = try await installation.make()
            try await client.execute("UPDATE sluice_schema SET version = $1 WHERE part = 'slice'", .int(Int64(version)))
            let refused = await #expect(throws: StoreError.self) { try await installation.require() }
            expectEqual(refused?.code, .mismatch)
            expectEqual(refused?.message.contains(version == 0 ? "sluice store migrate" : "newer version"), true)
        }
    }

    /// Processes of the release before go on with tables that have got additions, and not with those of another version.
    @Test func additionsLeaveTheTablesToTheReleaseBefore() async throws {
        try await withPostgresSchema { schema in
            let client = try schema.client()
            let first = PostgresSchema.Step.version(["CREATE TABLE things (id bigint PRIMARY KEY)"])
            let addition = PostgresSchema.Step.addition(
                ["ALTER TABLE things ADD COLUMN colour text NOT NULL DEFAULT 'red'"])
            let second = PostgresSchema.Step.version(["ALTER TABLE things RENAME COLUMN id TO number"])
            let old = PostgresSchema(part: "things", steps: [first])
            let new = PostgresSchema(part: "things", steps: [first, addition])
            let newest = PostgresSchema(part: "things", steps: [first, addition, second])
            // As releases made it that knew of no additions.
            try await client.execute("CREATE SCHEMA \(schema.name)")
            try await client.execute("CREATE TABLE sluice_schema (part text PRIMARY KEY, version bigint NOT NULL)")
            try await client.execute("INSERT INTO sluice_schema VALUES ('things', 1)")
            try await client.execute("CREATE TABLE things (id bigint PRIMARY KEY)")
            try await old.require(client)
            let lacking = await #expect(throws: StoreError.self) { try await new.require(client) }
            expectTrue(lacking?.code == .mismatch && lacking?.message.contains("sluice store migrate") == true)
            let level = try #require(try await new.level(client))
            expectTrue(new.lacksAdditionsOnly(level) && !newest.lacksAdditionsOnly(level))

            try await new.migrate(client)
            try await new.migrate(client)
            try await new.require(client)
            try await old.require(client)
            try await old.migrate(client)
            try await client.execute("INSERT INTO things (id) VALUES (1)")
            let colours = try await client.query("SELECT colour FROM things").map { $0.text(0) }
            expectEqual(colours, ["red"])
            try await expectEqual(old.level(client), PostgresSchema.Level(version: 1, additions: 1))

            try await newest.migrate(client)
            for schema in [old, new] {
                let refused = await #expect(throws: StoreError.self) { try await schema.require(client) }
                expectTrue(refused?.code == .mismatch && refused?.message.contains("newer version") == true)
            }
            try await newest.require(client)
        }
    }

    @Test func aSchemaOfSomethingElseIsLeftAlone() async throws {
        try await withPostgresSchema { schema in
            let client = try schema.client()
            try await client.execute("CREATE SCHEMA \(schema.name)")
            try await client.execute("CREATE TABLE invoices (id bigint)")
            let refused = await #expect(throws: StoreError.self) { _ = try await PostgresInstallation(client).make() }
            expectEqual(refused?.code, .mismatch)
            let tables = try await client.query(
                "SELECT count(*) FROM information_schema.tables WHERE table_schema = $1", .text(schema.name))
            expectEqual(tables.first?.int(0), 1)
        }
    }

    @Test func eachRoleMayDoWhatItNeedsAndNoMore() async throws {
        try await withPostgresSchema { schema in
            let owner = try schema.client()
            let installation = PostgresInstallation(owner)
            _ = try await installation.make()
            let password = "correct horse".replacing(" ", with: "-")
            let verifier = try #require(ScramVerifier(password: password))
            let passwords = Dictionary(uniqueKeysWithValues: PostgresRole.allCases.map { ($0, verifier) })
            let statements = try await installation.makeRoles(passwords: passwords, applying: true)
            expectTrue(!statements.contains { $0.contains(password) })
            // Again, for roles that are there.
            _ = try await installation.makeRoles(passwords: [:], applying: true)
            let control = try await PostgresControlStore.open(owner)
            try await control.insert(AppRecord(id: "tasks", createdAt: 1))

            func stores(_ role: PostgresRole) throws -> PostgresStores {
                PostgresStores(
                    try PostgresConfiguration(
                        url(schema.url, user: role.name(in: schema.name), password: password)), schema: schema.name,
                    logger: Logger(label: "test"))
            }
            let (gateway, worker, coordinator) = (
                try stores(.gateway), try stores(.worker), try stores(.coordinator)
            )
            try await gateway.control().insert(
                UserRecord(app: "tasks", id: "u", identities: [], email: nil, isDisabled: false, createdAt: 1))
            try await gateway.control().setDisabled(true, app: "tasks", user: "u")
            await denied { try await gateway.store(for: SliceNumber(0), mayMake: true) }
            await denied { try await gateway.control().updateApp("tasks") { $0.maxOfflineDays = 1 } }

            let slice = try await worker.store(for: SliceNumber(0), mayMake: true)
            _ = try await slice.take()
            try await worker.control().extendSchema(
                ofApp: "tasks", with: [SchemaElement(className: "A", type: "embedded")])
            await denied { try await worker.control().user(app: "tasks", id: "u") }

            _ = try await coordinator.control().updateApp("tasks") { $0.maxOfflineDays = 1 }
            let realms = try await coordinator.inspector().reader(for: SliceNumber(0)).realms(after: nil, limit: 1)
            expectTrue(realms.isEmpty)
            let foreign = try await coordinator.inspector().slices()
            expectEqual(foreign, [SliceNumber(0)])
            for stores in [gateway, worker, coordinator] { await stores.close() }
            for role in PostgresRole.allCases {
                try await owner.execute("DROP OWNED BY \(role.name(in: schema.name))")
                try await owner.execute("DROP ROLE \(role.name(in: schema.name))")
            }
        }
    }

    private func denied(_ body: () async throws -> some Any) async {
        let error = await #expect(throws: StoreError.self) { _ = try await body() }
        expectEqual(error?.code, .denied)
    }

    @Test func aPasswordBecomesWhatTheServerKeeps() {
        let salt: [UInt8] = [
            0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e, 0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81,
        ]
        // The user and the salt of the example in RFC 7677.
        expectEqual(
            ScramVerifier(password: "pencil", salt: salt)?.text,
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        )
        expectTrue(ScramVerifier(password: "p\u{e4}ssw\u{f6}rd") == nil)
    }
}
