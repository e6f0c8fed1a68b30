import GRDB
import Storage

extension SQLiteAppStore {
    func schema(ofApp app: String) async throws(StoreError) -> [SchemaElement] {
        try await read("the app's schema") { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT class, property, type FROM app_schema WHERE app = ? ORDER BY class, property, type",
                arguments: [app])
            return rows.map { row in
                let property: String = row["property"]
                return SchemaElement(
                    className: row["class"], property: property.isEmpty ? nil : property, type: row["type"])
            }
        }
    }

    func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement] {
        try await read("the app's schema") { db in
            let statement = try db.cachedStatement(
                sql: "SELECT 1 FROM app_schema WHERE app = ? AND class = ? AND property = ? AND type = ?")
            return try elements.filter { element in
                try Row.fetchOne(
                    statement, arguments: [app, element.className, element.property ?? "", element.type]) != nil
            }
        }
    }

    func extendSchema(
        ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        try await write("the app's schema") { db in
            _ = try AppRecord.existing(app, db)
            for element in elements {
                try db.run(
                    "INSERT OR IGNORE INTO app_schema (app, class, property, type, author) VALUES (?, ?, ?, ?, ?)", app,
                    element.className, element.property ?? "", element.type, author?.user)
            }
            // First what is the smaller count, and the one at which a client that goes on all the same is refused.
            if let author {
                let own = try Int.fetchOne(
                    db, sql: "SELECT COUNT(*) FROM app_schema WHERE app = ? AND author = ?",
                    arguments: [app, author.user])
                guard let own, own <= author.limit else { throw SchemaElement.full(app, of: author, own ?? 0) }
            }
            let count =
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM app_schema WHERE app = ?", arguments: [app]) ?? 0
            guard count <= SchemaElement.maxPerApp else { throw SchemaElement.full(app, count) }
        }
    }

    func reduceSchema(ofApp app: String, by elements: [SchemaElement]) async throws(StoreError) -> Int {
        try await write("the app's schema") { db in
            _ = try AppRecord.existing(app, db)
            var count = 0
            for element in elements {
                try db.run(
                    "DELETE FROM app_schema WHERE app = ? AND class = ? AND property = ? AND type = ?", app,
                    element.className, element.property ?? "", element.type)
                count += db.changesCount
            }
            if count > 0 { try db.run("UPDATE apps SET schema_version = schema_version + 1 WHERE id = ?", app) }
            return count
        }
    }
}
