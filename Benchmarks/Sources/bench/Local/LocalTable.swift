import Foundation
import GRDB

/// A table with an index, through GRDB, with the SDK's promises: what is committed survives a power failure.
enum LocalTable: LocalStore {
    private static func open(_ folder: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
        }
        return try DatabaseQueue(path: folder.appendingPathComponent("bench.sqlite").path, configuration: configuration)
    }

    private static func insert(_ ids: Range<Int>, _ database: Database) throws {
        let statement = try database.cachedStatement(sql: "INSERT INTO task VALUES(?, ?, ?, ?, ?)")
        for id in ids {
            let item = LocalItem(id)
            try statement.execute(arguments: [item.id, item.owner, item.title, item.priority, item.done])
        }
    }

    static func fill(_ folder: URL, _ bench: LocalBench) throws {
        let database = try open(folder)
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE task(
                        id INTEGER PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL, priority INTEGER NOT NULL,
                        done INTEGER NOT NULL);
                    CREATE INDEX task_owner ON task(owner);
                    """)
        }
        for start in stride(from: 0, to: bench.objects, by: 20_000) {
            try database.write { try insert(start..<min(start + 20_000, bench.objects), $0) }
        }
        try database.close()
    }

    static func measure(_ folder: URL, _ bench: LocalBench) throws -> LocalFigures {
        var figures = LocalFigures()
        let before = LocalFigures.memory("VmRSS")
        let clock = ContinuousClock()
        let start = clock.now
        let database = try open(folder)
        func priority(_ id: Int) throws -> Int? {
            try database.read { database in
                let statement = try database.cachedStatement(sql: "SELECT * FROM task WHERE id = ?")
                return try Row.fetchOne(statement, arguments: [id])?["priority"]
            }
        }
        let first = try priority(1)
        precondition(first != nil)
        figures.open_ms = (clock.now - start).milliseconds
        figures.open_mb = LocalFigures.memory("VmRSS") - before
        let step = max(1, bench.objects / 10_000)
        var sum = 0
        let reads = try bench.best {
            for number in 0..<bench.reads { sum += try priority(number % 10_000 * step % bench.objects) ?? 0 }
        }
        precondition(sum > 0)
        figures.reads_per_second = Double(bench.reads) / (reads.milliseconds / 1000)
        figures.properties_per_second = figures.reads_per_second
        figures.query_ms =
            try bench.best {
                figures.query_results = try database.read { database in
                    try Row.fetchAll(database, sql: "SELECT * FROM task WHERE owner = ?", arguments: ["user-17"]).count
                }
            }.milliseconds
        figures.write_s =
            try clock.measure {
                try database.write { try insert(bench.objects..<bench.objects + bench.written, $0) }
            }.milliseconds / 1000
        figures.peak_mb = LocalFigures.memory("VmHWM")
        return figures
    }
}
