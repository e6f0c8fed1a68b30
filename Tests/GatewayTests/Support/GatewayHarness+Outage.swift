import GRDB
import Testing

@testable import StorageSQLite

extension GatewayHarness {
    /// Whether apps and users cannot be read.
    func storeFails(_ fails: Bool) async throws {
        let store = try #require(self.store as? SQLiteControlStore)
        try await store.write("the outage") { db in
            for table in ["apps", "users"] {
                let (present, wanted) = fails ? (table, "\(table)_away") : ("\(table)_away", table)
                try db.execute(sql: "ALTER TABLE \(present) RENAME TO \(wanted)")
            }
        }
    }
}
