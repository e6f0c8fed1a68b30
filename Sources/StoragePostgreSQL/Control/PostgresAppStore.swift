import Storage
import SyncModel

/// Apps with their settings, rules and schemas.
protocol PostgresAppStore: PostgresControlPart {}

extension PostgresAppStore {
    func insert(_ app: AppRecord, rules: RulesChange?) async throws(StoreError) {
        try await database.change("the app") { transaction in
            var app = app
            app.rulesVersion = 0
            let first = try rules.map { try RulesRecord.replacing(0, of: app, with: $0) }
            app.rulesVersion = first?.version ?? 0
            guard try await app.insert(transaction) else {
                throw StoreError(.alreadyExists, "there is an app \(app.id) already")
            }
            // Not before: the insertion waits for whoever is deleting an app of this id.
            if let deletion = try await AppDeletionRecord.fetch(app.id, transaction) { throw deletion.refusal }
            if let first { try await Self.insert(first, transaction) }
        }
    }

    func updateApp(
        _ id: String, _ change: @escaping @Sendable (inout AppRecord) -> Void
    ) async throws(StoreError) -> AppRecord {
        try await database.change("the app") { transaction in
            let app = try await AppRecord.locked(id, transaction).changed(by: change)
            try await app.update(transaction)
            return app
        }
    }
}

// MARK: - Rules

extension PostgresAppStore {
    func replaceRules(
        app: String, expecting version: UInt64, with change: RulesChange
    ) async throws(StoreError) -> RulesRecord {
        try await database.change("the rules") { transaction in
            let app = try await AppRecord.locked(app, transaction)
            let record = try RulesRecord.replacing(version, of: app, with: change)
            try await Self.insert(record, transaction)
            try await transaction.run(
                """
                DELETE FROM app_rules WHERE app = $1 AND version <=
                    (SELECT version FROM app_rules WHERE app = $1 ORDER BY version DESC LIMIT 1 OFFSET $2)
                """, app.id, RulesRecord.kept)
            try await transaction.run("UPDATE apps SET rules_version = $1 WHERE id = $2", record.version, app.id)
            return record
        }
    }

    private static func insert(_ record: RulesRecord, _ transaction: ControlTransaction) async throws {
        try await transaction.run(
            "INSERT INTO app_rules (app, version, document, author, at) VALUES ($1, $2, $3, $4, $5)", record.app,
            record.version, record.document, record.author, record.at)
    }
}

// MARK: - Schemas

extension PostgresAppStore {
    func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement] {
        let found = try await database.read("the app's schema") { queries in
            try await queries.rows(
                """
                SELECT asked.number FROM app_schema
                JOIN unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS asked (class, property, type, number)
                    USING (class, property, type)
                WHERE app = $1
                """, app, elements.map(\.className), elements.map { $0.property ?? "" }, elements.map(\.type)
            ).map { try $0.integer("number") - 1 }
        }
        return found.filter(elements.indices.contains).map { elements[$0] }
    }

    func extendSchema(
        ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        try await database.change("the app's schema") { transaction in
            // Locked, so that what others add at the same time is counted.
            _ = try await AppRecord.locked(app, transaction)
            try await transaction.run(
                """
                INSERT INTO app_schema (app, class, property, type, author)
                SELECT $1, class, property, type, $2 FROM unnest($3::text[], $4::text[], $5::text[])
                    AS added (class, property, type)
                ON CONFLICT DO NOTHING
                """, app, author?.user, elements.map(\.className), elements.map { $0.property ?? "" },
                elements.map(\.type))
            let counts = try await transaction.rows(
                "SELECT count(*) AS whole, count(*) FILTER (WHERE author = $2) AS own FROM app_schema WHERE app = $1",
                app, author?.user)
            let (count, own) = (try counts.first?.integer("whole") ?? 0, try counts.first?.integer("own") ?? 0)
            if let author, own > author.limit { throw SchemaElement.full(app, of: author, own) }
            guard count <= SchemaElement.maxPerApp else { throw SchemaElement.full(app, count) }
        }
    }

    func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int {
        try await database.change("the app's schema") { transaction in
            _ = try await AppRecord.locked(app, transaction)
            let count = try await transaction.run(
                """
                DELETE FROM app_schema WHERE app = $1 AND (class, property, type) IN
                    (SELECT * FROM unnest($2::text[], $3::text[], $4::text[]))
                """, app, elements.map(\.className), elements.map { $0.property ?? "" }, elements.map(\.type))
            if count > 0 {
                try await transaction.run("UPDATE apps SET schema_version = schema_version + 1 WHERE id = $1", app)
            }
            return count
        }
    }
}
