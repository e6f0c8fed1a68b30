import Changesets
import PostgreSQL
import Storage
import SyncModel

/// An app as a row of `apps`.
extension AppRecord {
    /// The app, which no other transaction changes before this one has ended.
    /// - Throws: `notFound`.
    static func locked(_ id: String, _ transaction: ControlTransaction) async throws -> AppRecord {
        let rows = try await transaction.rows("SELECT * FROM apps WHERE id = $1 FOR UPDATE", id)
        guard let row = rows.first else { throw StoreError(.notFound, "there is no app \(id)") }
        return try AppRecord(row: row)
    }

    private static let columns = """
        id, sync_mode, sync_state, development_mode, client_recovery, max_offline_days, generation, anonymous_login,
        email_password_login, created_at, compatibility, on_read_denied, on_write_denied, rules_version, users_version,
        quotas, schema_version, client_schemas, migration
        """
    private static let places = (1...19).map { "$\($0)" }.joined(separator: ", ")

    private func values() throws -> [any ControlArgument] {
        [
            id, syncMode.rawValue, syncState.rawValue, developmentMode, clientRecovery, maxOfflineDays, generation,
            anonymousLogin, emailPasswordLogin, createdAt, compatibility.rawValue, onReadDenied.rawValue,
            onWriteDenied.rawValue, rulesVersion, usersVersion, try quotas.storedText(), schemaVersion,
            try clientSchemas?.storedText(), try migration?.storedText(),
        ]
    }

    /// - Returns: false if there is one of this id already.
    func insert(_ transaction: ControlTransaction) async throws -> Bool {
        try await transaction.run(
            "INSERT INTO apps (\(Self.columns)) VALUES (\(Self.places)) ON CONFLICT (id) DO NOTHING",
            arguments: try values()) > 0
    }

    private static let replacing = "UPDATE apps SET (\(columns)) = (\(places)) WHERE id = $1"

    /// Replaces what is stored, if there is such an app.
    func update(_ transaction: ControlTransaction) async throws {
        try await transaction.run(Self.replacing, arguments: try values())
    }

    func update(_ pipeline: inout PostgresPipeline) throws {
        pipeline.add(Self.replacing, PostgresValue.list(try values()))
    }

    init(row: ControlRow) throws {
        func value<Value: RawRepresentable<String>>(_ column: String) throws -> Value {
            let text = try row.text(column)
            guard let value = Value(rawValue: text) else {
                throw StoreError(.corrupt, "an app's \(column) is stored as \(text.prefix(40)), which no version knows")
            }
            return value
        }
        self.init(
            id: try row.text("id"), syncMode: try value("sync_mode"), syncState: try value("sync_state"),
            compatibility: try value("compatibility"), developmentMode: try row.boolean("development_mode"),
            clientRecovery: try row.boolean("client_recovery"), maxOfflineDays: try row.integer("max_offline_days"),
            generation: try row.unsigned("generation"), anonymousLogin: try row.boolean("anonymous_login"),
            emailPasswordLogin: try row.boolean("email_password_login"), onReadDenied: try value("on_read_denied"),
            onWriteDenied: try value("on_write_denied"), rulesVersion: try row.unsigned("rules_version"),
            usersVersion: try row.unsigned("users_version"), schemaVersion: try row.unsigned("schema_version"),
            clientSchemas: try row.textIfAny("client_schemas").map(SchemaVersionRange.init(storedText:)),
            migration: try row.textIfAny("migration").map(ModeMigration.init(storedText:)),
            quotas: try QuotaValues(storedText: try row.text("quotas")), createdAt: try row.unsigned("created_at"))
    }
}
