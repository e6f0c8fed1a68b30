import GRDB
import SQLiteStatements
import Storage
import SyncModel

extension SQLiteAppStore {
    func schema(ofApp app: String, among elements: [SchemaElement]) async throws(StoreError) -> [SchemaElement] {
        try await read("the app's schema") { db in
            let find = try RepeatedStatement(db, Self.find)
            return try elements.filter { try Self.has($0, in: app, find) }
        }
    }

    private static var find: String {
        "SELECT 1 FROM app_schema WHERE app = ? AND class = ? AND property = ? AND type = ?"
    }

    private static func has(_ element: SchemaElement, in app: String, _ find: RepeatedStatement) throws -> Bool {
        find.bind(1, app)
        find.bind(2, element.className)
        find.bind(3, element.property ?? "")
        find.bind(4, element.type)
        return try find.findsRow()
    }

    func extendSchema(
        ofApp app: String, with elements: [SchemaElement], by author: SchemaAuthor?
    ) async throws(StoreError) {
        // A client that is refused goes on all the same, and must not hold up others who write: first without the lock.
        try await read("the app's schema") { db in
            _ = try AppRecord.existing(app, db)
            try Self.checkRoom(for: elements, in: app, by: author, db)
        }
        try await write("the app's schema") { db in
            _ = try AppRecord.existing(app, db)
            try Self.checkRoom(for: elements, in: app, by: author, db)
            for element in elements {
                try db.run(
                    "INSERT OR IGNORE INTO app_schema (app, class, property, type, author) VALUES (?, ?, ?, ?, ?)", app,
                    element.className, element.property ?? "", element.type, author?.user)
            }
        }
    }

    /// - Throws: `full` if the elements that the app does not have are more than it, or the author, may add.
    private static func checkRoom(
        for elements: [SchemaElement], in app: String, by author: SchemaAuthor?, _ db: Database
    ) throws {
        let find = try RepeatedStatement(db, find)
        let missing = try Set(elements).count { try !has($0, in: app, find) }
        guard missing > 0 else { return }
        // First what is the smaller count, and the one at which a client that goes on all the same is refused.
        if let author {
            let own = try Int.fetchOne(
                db, sql: "SELECT COUNT(*) FROM app_schema WHERE app = ? AND author = ?",
                arguments: [app, author.user])
            let count = (own ?? 0) + missing
            guard count <= author.limit else { throw SchemaElement.full(app, of: author, count) }
        }
        let count =
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM app_schema WHERE app = ?", arguments: [app]) ?? 0
        guard count + missing <= SchemaElement.maxPerApp else { throw SchemaElement.full(app, count + missing) }
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
