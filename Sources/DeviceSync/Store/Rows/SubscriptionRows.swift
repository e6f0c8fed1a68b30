internal import Foundation
internal import GRDB
import SyncModel
internal import SyncProtocol

/// What a commit changes in a realm's subscription sets.
struct SubscriptionChange {
    let sets: SubscriptionSets
    fileprivate let removed: [QueryVersion]
    fileprivate let written: [SubscriptionSet]

    init(of old: SubscriptionSets, _ change: (inout SubscriptionSets) -> Void) {
        var new = old
        change(&new)
        self.init(from: old, to: new)
    }

    init(from old: SubscriptionSets, to new: SubscriptionSets) {
        sets = new
        removed = old.sets.map(\.version).filter { new[$0] == nil }
        // What a new file begins with is in no file yet.
        let stored = old == SubscriptionSets() ? nil : old
        written = new.sets.filter { stored?[$0.version] != $0 }
    }

    /// Everything, for a file that has none.
    init(_ sets: SubscriptionSets) {
        self.sets = sets
        removed = []
        written = sets.sets
    }
}

/// A flexible realm's subscription sets.
struct SubscriptionRows {
    static let tables = """
        CREATE TABLE IF NOT EXISTS subscription_sets(
            version INTEGER PRIMARY KEY, state INTEGER NOT NULL, reason TEXT, snapshot INTEGER NOT NULL,
            subscriptions BLOB NOT NULL);
        """

    private let database: Database

    init(_ database: Database) { self.database = database }

    func all() throws -> SubscriptionSets {
        guard try database.tableExists("subscription_sets") else { return SubscriptionSets() }
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT version, state, reason, snapshot, subscriptions FROM subscription_sets ORDER BY version")
        return SubscriptionSets(
            stored: try rows.map { row in
                SubscriptionSet(
                    version: QueryVersion(column: row[0]),
                    // What another version of the SDK wrote there is asked for anew.
                    state: SubscriptionSet.State(rawValue: row[1]) ?? .pending, reason: row[2],
                    snapshot: ClientVersion(column: row[3]),
                    subscriptions: try JSONDecoder().decode([Subscription].self, from: row[4] as Data))
            })
    }

    func write(_ change: SubscriptionChange) throws {
        let delete = try database.cachedStatement(sql: "DELETE FROM subscription_sets WHERE version = ?")
        for version in change.removed { try delete.execute(arguments: [version.column]) }
        let write = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO subscription_sets(version, state, reason, snapshot, subscriptions)
                VALUES(?, ?, ?, ?, ?)
                """)
        for set in change.written {
            try write.execute(arguments: [
                set.version.column, set.state.rawValue, set.reason, set.snapshot.column,
                try JSONEncoder().encode(set.subscriptions),
            ])
        }
    }
}
