import GRDB
import SQLiteStatements
import Storage

extension AppUsage {
    static func of(_ app: String, _ db: Database) throws -> AppUsage {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT realms, client_files, bytes FROM app_usage WHERE app = ?"),
            arguments: [app])
        return row.map { AppUsage(realms: $0[0], clientFiles: $0[1], bytes: $0[2]) } ?? AppUsage()
    }
}

extension UserUsage {
    /// Nil if the user has added nothing that was worth a row.
    static func of(_ user: AppUser, _ db: Database) throws -> UserUsage? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT realms, client_files, bytes, at FROM user_usage WHERE app = ? AND user = ?"),
            arguments: [user.app, user.user])
        return row.map { row in
            UserUsage(
                amounts: UsageAmounts(realms: row[0], clientFiles: row[1], bytes: row[2]), at: UInt64(stored: row[3]))
        }
    }

    func save(of user: AppUser, _ db: Database) throws {
        try db.run(
            "INSERT OR REPLACE INTO user_usage (app, user, realms, client_files, bytes, at) VALUES (?, ?, ?, ?, ?, ?)",
            user.app, user.user, amounts.realms, amounts.clientFiles, amounts.bytes, at.stored)
    }
}

/// The bytes of objects and changesets by which the realms of a slice grow with a commit.
struct RealmGrowth {
    private var bytes: [RealmID: Int64] = [:]

    mutating func add(_ count: Int, to realm: RealmID) { bytes[realm, default: 0] += Int64(count) }

    /// Takes away the bytes of rows that are about to go.
    ///
    /// - Parameter sql: selects the sum of their lengths.
    mutating func remove(_ db: Database, from realm: RealmID, _ sql: String, _ arguments: Int64...) throws {
        let statement = try RepeatedStatement(db, sql)
        for (index, argument) in arguments.enumerated() { statement.bind(Int32(index + 1), argument) }
        bytes[realm, default: 0] -= try statement.first { $0.int(0) } ?? 0
    }

    /// Takes away the bytes of one object that goes or is replaced.
    mutating func remove(_ row: ObjectRow, from realm: RealmID, by length: RepeatedStatement) throws {
        length.bind(2, row)
        if let old = try length.first({ $0.int(0) }) { bytes[realm, default: 0] -= old }
    }

    func save(_ db: Database) throws {
        for (realm, growth) in bytes where growth != 0 {
            try db.run("UPDATE realms SET stored_bytes = stored_bytes + ? WHERE id = ?", growth, realm.value)
        }
    }
}
