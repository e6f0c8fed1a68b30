import GRDB
import Storage
import SyncModel

extension SQLiteControlStore {
    func changeCampaigns<Value: Sendable>(
        _ change: @escaping @Sendable (any CampaignRows) throws -> Value
    ) async throws(StoreError) -> Value {
        try await write("the campaigns") { try change(SQLiteCampaignRows(db: $0)) }
    }

    func unpublishedCampaigns() async throws(StoreError) -> [CampaignRecord] {
        try await read("the campaigns") { db in
            try Row.fetchAll(db, sql: "SELECT * FROM campaigns WHERE state = 'publishing' ORDER BY number")
                .map(CampaignRecord.init)
        }
    }

    static func campaign(_ id: String, _ db: Database) throws -> CampaignRecord? {
        try Row.fetchOne(db, sql: "SELECT * FROM campaigns WHERE id = ?", arguments: [id]).map(CampaignRecord.init)
    }
}

extension CampaignRecord {
    init(row: Row) throws {
        guard let kind = Kind(rawValue: row["kind"]), let state = State(rawValue: row["state"]) else {
            throw StoreError(.corrupt, "a campaign's kind or state is not known")
        }
        self.init(
            id: row["id"], app: row["app"], kind: kind, reason: row["reason"], partition: row["partition"],
            clientFile: row.unsignedIfAny("client_file").map(FileIdent.init), startedAt: row.unsigned("started_at"),
            generation: row.unsigned("generation"), state: state, slicesExpected: row["slices_expected"],
            slicesReported: row["slices_reported"], closedAt: row.unsignedIfAny("closed_at"))
    }
}
