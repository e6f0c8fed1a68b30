import Changesets
import Documents
import ExtendedJSON
import Foundation
import RealmState
import Rules
import Storage
import StorageSQLite
import SyncModel
import Testing
import Views

@testable import Inspection

/// A flexible realm with 300 tasks of ten owners in a store, and indexes of some of their properties.
final class SearchedRealm {
    static let name = RealmName(flexible: "notes")
    static let count: Int64 = 300

    let folder: String
    let reader: any SliceReader
    private let stores: SQLiteStores

    /// - Parameter indexed: what a view asks for, so that there are indexes for it.
    init(indexed query: String? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "searched-\(UUID().uuidString)").path
        stores = SQLiteStores(folder: folder)
        let slice = SliceNumber(0)
        let store = try await stores.store(for: slice)
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 1 << 60, gone: nil) else {
            throw InspectionError(.corrupt, "not owned")
        }
        var state = RealmState()
        _ = try state.record { (transaction: inout RecordingTransaction) throws(RecordingError) in
            try transaction.createTable("Task", key: KeySchema(name: "_id", type: .int, nullable: false))
            try transaction.addColumn("Task", "owner", ElementType(type: .string, nullable: true))
            try transaction.addColumn("Task", "n", ElementType(type: .int, nullable: false))
            try transaction.addColumn("Task", "secret", ElementType(type: .string, nullable: true))
            try transaction.addColumn("Task", "tags", ElementType(type: .string, nullable: false), collection: .list)
        }
        let schema = state.schema
        let mapping = DocumentMapping(schema: schema)
        let table = try mapping.table("Task")
        var record = RealmRecord(id: RealmID(1), name: Self.name, generation: 1, salt: 77, saltEpoch: epoch)
        record.latest = SaltedServerVersion(version: 9, salt: 77)
        record.schema = schema.encoded()
        var columns = IndexedColumns()
        if let query {
            let text = JSONWriter.text(of: ["Task": .string(query)])
            let roles = try Self.roles(
                #"{"document_filters": {"read": true, "write": true}, "read": true, "write": true}"#)
            _ = columns.add(
                try View(ViewDefinition(version: 1, queries: text, roles: roles.text), schema: schema))
            while columns.fillingNext() != nil { columns.filled(through: nil) }
            record.indexed = columns.encoded(at: 77)
        }
        var batch = SliceBatch()
        batch.realms = [record]
        for key in 0..<Self.count {
            let document: BSONDocument = [
                "_id": BSONValue(key), "owner": BSONValue("u\(key % 10)"), "n": BSONValue(key % 7),
                "secret": BSONValue("s\(key)"), "tags": .array([BSONValue("t\(key % 3)"), "all"]),
            ]
            let object = try mapping.object(mapping.content(document, of: table), of: table)
            let row = ObjectRow(table: table.id.rawValue, key: .int(key))
            batch.objects[record.id, default: [:]][row] = object.encoded()
            for (column, value) in columns.values(of: object, in: table) {
                batch.indexEntries[record.id, default: []].insert(
                    IndexEntry(row: row, column: column.rawValue, value: value))
            }
        }
        try await store.commit(batch, epoch: epoch)
        reader = try await stores.inspector().reader(for: slice)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// What a default role makes of a user.
    static func roles(_ role: String, of user: String = "u3") throws -> ClosedRoles {
        let head = #"{"name": "r", "apply_when": {}, "insert": true, "delete": true, "#
        let rules = #"{"queryable": {"global": ["owner", "n"]}, "defaultRoles": [\#(head)\#(role.dropFirst())]}"#
        let check = RulesCheck(Array(rules.utf8))
        return try #require(check.document, "\(check.findings)").closedRoles(of: RuleUser(id: user))
    }

    func search<Result>(
        as roles: ClosedRoles? = nil, limits: SearchLimits = SearchLimits(),
        _ body: (DocumentSearch) async throws -> Result
    ) async throws -> Result {
        try #require(
            try await DocumentSearch.run(
                in: Self.name, of: "Task", reader: reader, as: roles, within: SearchBudget(limits), body))
    }
}
