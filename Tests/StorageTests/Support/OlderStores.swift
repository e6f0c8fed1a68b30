import Foundation
import GRDB
import Storage

@testable import StorageSQLite

extension SQLiteControlSchema {
    /// A control store as the first version of its schema has it, with some rows in it.
    static func makeFirstVersion(file: String, with rows: String) throws {
        try makeVersion(1, file: file, with: rows)
    }

    /// A control store as an earlier version of its schema has it, with some rows in it.
    static func makeVersion(_ version: Int, file: String, with rows: String) throws {
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: file)
        try database.write { db in
            for step in steps[..<version] { try db.execute(sql: step) }
            try db.execute(sql: rows)
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: "PRAGMA user_version = \(version)")
        }
        try database.close()
    }
}

extension SQLiteSliceSchema {
    /// A slice as it was before realms had a compatibility, with some rows in it.
    static func makeVersionBeforeCompatibility(file: String, with rows: String) throws {
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: file)
        try migrator.migrate(database, upTo: "bases of compacted histories")
        try database.write { try $0.execute(sql: rows) }
        try database.close()
    }
}
