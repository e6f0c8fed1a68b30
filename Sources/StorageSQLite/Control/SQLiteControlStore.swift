import Dispatch
import Foundation
import GRDB
import Storage

/// The control store in one SQLite file, shared by the processes of a machine: WAL, synchronous=FULL, every write in a
/// transaction that begins IMMEDIATE, so that two processes never decide on the same state.
struct SQLiteControlStore: DividedControlStore, SQLiteControlPart {
    let database: any DatabaseWriter
    let ofCluster: any ClusterStore
    let ofApps: any AppStore
    let ofAccounts: any AccountStore
    let ofAdmins: any AdminStore
    let ofCampaigns: any CampaignStore
    let ofDeletions: any AppDeletionStore

    init(database: any DatabaseWriter) {
        self.database = database
        ofCluster = SQLiteClusterStore(database: database)
        ofApps = SQLiteAppStore(database: database)
        ofAccounts = SQLiteAccountStore(database: database)
        ofAdmins = SQLiteAdminStore(database: database)
        ofCampaigns = SQLiteCampaignStore(database: database)
        ofDeletions = SQLiteDeletionStore(database: database)
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

/// A part of the control store: all of them have one database.
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
