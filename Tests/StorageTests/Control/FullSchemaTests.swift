import Foundation
import GRDB
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

/// A client that goes on adding to a full schema, in SQLite, where all of a cluster's processes share one lock for writing.
@Suite(.hangGuard) struct FullSchemaTests {
    @Test func aRefusalDoesNotWaitForTheLock() async throws {
        try await withFolder { folder in
            let control = try await SQLiteStores(folder: folder).control()
            try await control.insert(AppRecord(id: "tasks", createdAt: 1))
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: "\(folder)/control.sqlite", configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let element = SchemaElement(className: "Dog", type: "embedded")
            let full = await #expect(throws: StoreError.self) {
                try await control.extendSchema(
                    ofApp: "tasks", with: [element], by: SchemaAuthor(user: "flood", limit: 0))
            }
            expectEqual(full?.code, .full)
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await control.extendSchema(
                ofApp: "tasks", with: [element], by: SchemaAuthor(user: "calm", limit: 1))
            try await expectEqual(control.schema(ofApp: "tasks"), [element])
        }
    }
}
