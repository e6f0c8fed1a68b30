import PostgreSQL
import Storage

/// An app as a row of `apps`.
extension AppRecord {
    /// The app, which no other transaction changes before this one has ended.
    /// - Throws: `notFound`.
    static func locked(_ id: String, _ transaction: ControlTransaction) async throws -> AppRecord {
        let rows = try await transaction.rows("SELECT * FROM apps WHERE id = $1 FOR UPDATE", id)
        guard let row = rows.first else { throw StoreError(.notFound, "there is no app \(id)") }
        return try AppRecord(row: row)
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
}
