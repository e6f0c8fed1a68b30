import GRDB

/// The control store's file, for reading only.
enum SQLiteControlFile {
    static func sliceCount(_ path: String) throws -> Int? {
        try read(path) { db in
            try String.fetchOne(db, sql: "SELECT value FROM settings WHERE name = 'slices'").flatMap(Int.init)
        }
    }

    static func problems(_ path: String, limit: Int) throws -> [String] {
        try read(path) { try String.fetchAll($0, sql: "PRAGMA quick_check(\(limit))").filter { $0 != "ok" } }
    }

    private static func read<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.label = "control.reader"
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path, configuration: configuration).read(body)
    }
}
