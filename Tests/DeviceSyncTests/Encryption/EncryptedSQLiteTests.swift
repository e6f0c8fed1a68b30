import Foundation
import GRDB
import SeededRandom
import TestSupport
import Testing

@testable import DeviceSync

/// SQLite on encrypted files, in ways in which realms use it rarely or never.
@Suite(.hangGuard)
struct EncryptedSQLiteTests {
    private struct Database {
        let folder = Folder()
        let encryption: FileEncryption

        init() throws { encryption = FileEncryption.new(try EncryptionKey(PlainText.key)) }

        func open() throws -> DatabaseQueue { try DatabaseQueue.durable(folder.file, encryption: encryption) }
    }

    private static func dump(_ database: DatabaseQueue) throws -> [[String]] {
        try database.read { database in
            try Row.fetchAll(database, sql: "SELECT CAST(id AS TEXT), hex(value) FROM t ORDER BY 1")
                .map { [$0[0], $0[1]] }
        }
    }

    private static func isSound(_ database: DatabaseQueue) throws -> Bool {
        try database.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") == ["ok"] }
    }

    /// Each step on an encrypted database and on one in memory.
    @Test(arguments: 0..<3) func anEncryptedDatabaseDoesWhatAnyDoes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let files = try Database()
        var encrypted = try files.open()
        let plain = try DatabaseQueue()
        for database in [encrypted, plain] {
            try database.write {
                try $0.execute(sql: "CREATE TABLE t(id TEXT PRIMARY KEY, value BLOB); CREATE INDEX i ON t(value)")
            }
        }
        for step in 0..<60 {
            let name = String(random.below(60))
            let size = [10, 500, 5000, 20_000][random.below(4)]
            let value = Data(repeating: UInt8(random.below(256)), count: size) + Data(PlainText.marker.utf8)
            let choice = random.below(12)
            for database in [encrypted, plain] {
                switch choice {
                case 0..<5:
                    try database.write {
                        try $0.execute(sql: "INSERT OR REPLACE INTO t VALUES(?, ?)", arguments: [name, value])
                    }
                case 5, 6:
                    try database.write {
                        try $0.execute(sql: "DELETE FROM t WHERE id >= ? AND id < ?", arguments: [name, name + "9"])
                    }
                case 7:
                    // With more pages than fit into the cache, written twice, taken back in part or as a whole.
                    try database.writeWithoutTransaction { database in
                        try database.execute(sql: "PRAGMA cache_size=5")
                        try database.inTransaction {
                            try database.execute(sql: "UPDATE t SET value = value || x'00'")
                            try database.inSavepoint {
                                try database.execute(sql: "UPDATE t SET value = value || x'01'")
                                try database.execute(
                                    sql: "INSERT OR REPLACE INTO t VALUES(?, ?)", arguments: [name, value])
                                return step % 2 == 0 ? .commit : .rollback
                            }
                            return step % 3 == 0 ? .rollback : .commit
                        }
                    }
                case 8 where database === encrypted:
                    try database.writeWithoutTransaction { _ = try $0.checkpoint(step % 2 == 0 ? .truncate : .passive) }
                case 9 where database === encrypted:
                    try database.writeWithoutTransaction { database in
                        try database.execute(sql: "PRAGMA journal_mode=DELETE")
                        try database.execute(sql: "PRAGMA cache_size=5")
                        try database.execute(sql: "UPDATE t SET value = value || x'00' WHERE id < '3'")
                        _ = try? database.inTransaction {
                            try database.execute(sql: "UPDATE t SET value = value || x'00'")
                            expectTrue(PlainText.found(in: files.folder.url).isEmpty)
                            return .rollback
                        }
                        try database.execute(sql: "PRAGMA journal_mode=WAL")
                    }
                case 9: try database.write { try $0.execute(sql: "UPDATE t SET value = value || x'00' WHERE id < '3'") }
                case 10 where database === encrypted: try database.vacuum()
                default: break
                }
            }
            if choice == 11 {
                try encrypted.close()
                encrypted = try files.open()
            }
            guard step % 6 == 0 else { continue }
            try expectEqual(Self.dump(encrypted), Self.dump(plain))
            expectTrue(PlainText.found(in: files.folder.url).isEmpty)
        }
        try expectEqual(Self.dump(encrypted), Self.dump(plain))
        try expectTrue(Self.isSound(encrypted))
    }

    /// The files as they are in the middle of a transaction are what a crash leaves.
    @Test(arguments: ["WAL", "DELETE"]) func aCrashInATransactionTakesBackAllOfIt(mode: String) throws {
        let files = try Database()
        let database = try files.open()
        try database.write { database in
            try database.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, value BLOB)")
            for id in 0..<300 {
                try database.execute(sql: "INSERT INTO t VALUES(?, randomblob(3000))", arguments: [id])
            }
        }
        let before = try Self.dump(database)
        let crashed = try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode=\(mode); PRAGMA cache_size=5")
            var crashed: Folder?
            try database.inTransaction {
                try database.execute(sql: "UPDATE t SET value = randomblob(3500)")
                crashed = try files.folder.copied()
                return .commit
            }
            return try #require(crashed)
        }
        expectEqual((crashed.bytes["a.realm-journal"] != nil), (mode == "DELETE"))
        let header = try #require(try EncryptedHeader.ofClosed(crashed.file))
        expectEqual(header, files.encryption.cipher.header)
        let encryption = try #require(try FileEncryption.of(crashed.file, EncryptionKey(PlainText.key)))
        let recovered = try DatabaseQueue.durable(crashed.file, encryption: encryption)
        try expectEqual(Self.dump(recovered), before)
        try expectTrue(Self.isSound(recovered))
    }

    /// A page of the log that was changed ends the log, as one that was not written whole does.
    @Test func aLogThatWasChangedEndsThere() throws {
        let files = try Database()
        let database = try files.open()
        try database.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, value BLOB)") }
        for id in 0..<20 {
            try database.write { try $0.execute(sql: "INSERT INTO t VALUES(?, x'0a')", arguments: [id]) }
        }
        let image = try files.folder.copied()
        let log = try #require(image.bytes["a.realm-wal"])
        for (position, isHeader) in [(log.count - 2000, false), (log.count - PageCipher.pageSize - 3, true)] {
            let crashed = try image.copied()
            var changed = log
            changed[position] ^= 4
            try changed.write(to: URL(fileURLWithPath: crashed.file.path + "-wal"))
            let encryption = try #require(try FileEncryption.of(crashed.file, EncryptionKey(PlainText.key)))
            let recovered = try DatabaseQueue.durable(crashed.file, encryption: encryption)
            let ids = try Self.dump(recovered).map { $0[0] }
            expectEqual(Set(ids), Set((0..<19).map(String.init)), "\(isHeader)")
        }
    }

    @Test func theSumsOfPagesInTheLogAreHidden() throws {
        let files = try Database()
        let database = try files.open()
        try database.write { try $0.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, value BLOB)") }
        let log = [UInt8](try #require(files.folder.bytes["a.realm-wal"]))
        // A plain frame repeats the random numbers of the log's header beside the sum.
        expectTrue(Array(log[16..<24]) != Array(log[40..<48]))
    }

    @Test func nothingGoesIntoTemporaryFiles() throws {
        let files = try Database()
        let database = try files.open()
        let sorting =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
            + "SELECT randomblob(500) AS value FROM n ORDER BY value"
        try expectEqual(database.read { try Row.fetchAll($0, sql: sorting) }.count, 20000)
        // Had a connection not been told to keep such things in memory, there would be an error, and no file.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA temp_store=FILE; PRAGMA cache_size=5") }
        #expect(throws: DatabaseError.self) { try database.read { try Row.fetchAll($0, sql: sorting) } }
    }
}
