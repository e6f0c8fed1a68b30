import Dispatch
import Foundation
import GRDB
import Storage

/// The control store in one SQLite file, shared by the processes of a machine: WAL, synchronous=FULL, every write in a
/// transaction that begins IMMEDIATE, so that two processes never decide on the same state.
///
/// What takes one transaction of several statements is written in parts, one for each thing that is kept.
struct SQLiteControlStore: SQLControlStore, SQLiteClusterStore, SQLiteAppStore, SQLiteAccountStore, SQLiteAdminStore,
    SQLiteCampaignStore, SQLiteDeletionStore
{
    let database: any DatabaseWriter

    func records<Value: Sendable>(
        _ what: StaticString, _ sql: String, _ arguments: [ControlValue],
        as value: @escaping @Sendable (any ControlRow) throws -> Value
    ) async throws(StoreError) -> [Value] {
        try await read(what) { try $0.rows(sql, values: arguments).map(value) }
    }

    @discardableResult
    func run(_ what: StaticString, _ sql: String, _ arguments: [ControlValue]) async throws(StoreError) -> Int {
        try await write(what) { db in
            try db.run(sql, values: arguments)
            return db.changesCount
        }
    }

    /// How long one process waits for another's transaction.
    static let busyTimeout: Double = 10

    static func open(folder: String) async throws(StoreError) -> SQLiteControlStore {
        try await opened {
            let path = "\(folder)/control.sqlite"
            try SQLiteFiles.make(path, in: folder)
            return try DatabasePool(path: path, configuration: configuration())
        }
    }

    static func inMemory() async throws(StoreError) -> SQLiteControlStore {
        try await opened { try DatabaseQueue(configuration: configuration()) }
    }

    private static func opened(
        _ open: @escaping @Sendable () throws -> any DatabaseWriter
    ) async throws(StoreError) -> SQLiteControlStore {
        do {
            return try await onOwnThread {
                let deadline = DispatchTime.now() + busyTimeout
                while true {
                    do {
                        let database = try open()
                        try SQLiteControlSchema.migrate(database)
                        return SQLiteControlStore(database: database)
                    } catch let error as DatabaseError
                        where error.resultCode == .SQLITE_BUSY && DispatchTime.now() < deadline
                    {
                        // Turning WAL on does not wait for others who open the new file at the same moment.
                        Thread.sleep(forTimeInterval: 0.02)
                    }
                }
            }
        } catch {
            throw SQLiteFailure.storeError(error, "the control store cannot be opened")
        }
    }

    private static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.label = "control"
        configuration.busyMode = .timeout(busyTimeout)
        configuration.foreignKeysEnabled = true
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return configuration
    }
}

/// A part of the control store.
protocol SQLiteControlPart: Sendable {
    var database: any DatabaseWriter { get }
}

extension SQLiteControlPart {
    func read<Value: Sendable>(
        _ what: StaticString, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await database.read(body)
        } catch {
            throw SQLiteFailure.storeError(error, "\(what) could not be read")
        }
    }

    /// One transaction, IMMEDIATE.
    func write<Value: Sendable>(
        _ what: StaticString, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await database.write(body)
        } catch {
            throw SQLiteFailure.storeError(error, "\(what) could not be written")
        }
    }
}
