import GRDB
import Storage

extension SQLiteControlStore {
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

    func extendSchema(ofApp app: String, with elements: [SchemaElement]) async throws(StoreError) {
        try await write("the app's schema") { db in
            _ = try AppRecord.existing(app, db)
            for element in elements {
                try db.run(
                    "INSERT OR IGNORE INTO app_schema (app, class, property, type) VALUES (?, ?, ?, ?)", app,
                    element.className, element.property ?? "", element.type)
            }
            let count =
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM app_schema WHERE app = ?", arguments: [app]) ?? 0
            guard count <= SchemaElement.maxPerApp else { throw SchemaElement.full(app, count) }
        }
    }
}
