import Dispatch
import GRDB
import Storage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The control store in one SQLite file, shared by the processes of a machine: WAL, synchronous=FULL, every write in a
/// transaction that begins IMMEDIATE, so that two processes never decide on the same state.
final class SQLiteControlStore: ControlStore {
    let database: any DatabaseWriter
    let limits: CampaignLimits

    init(database: any DatabaseWriter, limits: CampaignLimits) {
        self.database = database
        self.limits = limits
    }

    /// How long one process waits for another's transaction.
    static let busyTimeout: Double = 10

    static func open(folder: String) async throws(StoreError) -> SQLiteControlStore {
        try await onQueue {
            let path = "\(folder)/control.sqlite"
            try makeFolder(folder)
            try createPrivateFile(path)
            return try make(CampaignLimits()) { try DatabasePool(path: path, configuration: configuration()) }
        }
    }

    static func inMemory(limits: CampaignLimits = CampaignLimits()) async throws(StoreError) -> SQLiteControlStore {
        try await onQueue { try make(limits) { try DatabaseQueue(configuration: configuration()) } }
    }

    private static func make(_ limits: CampaignLimits, _ open: () throws -> any DatabaseWriter) throws
        -> SQLiteControlStore
    {
        let deadline = DispatchTime.now() + busyTimeout
        while true {
            do {
                let database = try open()
                try SQLiteControlSchema.migrate(database)
                return SQLiteControlStore(database: database, limits: limits)
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_BUSY && DispatchTime.now() < deadline
            {
                // Turning WAL on does not wait for others who open the new file at the same moment.
                usleep(20_000)
            }
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

    /// Opening blocks, and may wait for another process: not on a cooperative thread.
    private static func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
            }
        } catch {
            throw SQLiteFailure.storeError(error, "the control store cannot be opened")
        }
    }

    private static func makeFolder(_ folder: String) throws(StoreError) {
        var path = folder.hasPrefix("/") ? "/" : ""
        for component in folder.split(separator: "/") {
            path += path.isEmpty || path == "/" ? String(component) : "/\(component)"
            guard mkdir(path, 0o700) == 0 || errno == EEXIST || errno == EISDIR else {
                throw StoreError(.unavailable, "the folder \(path) cannot be made: \(String(cString: strerror(errno)))")
            }
        }
    }

    /// The file holds password hashes and signing keys. SQLite gives its -wal and -shm files the same mode.
    private static func createPrivateFile(_ path: String) throws(StoreError) {
        let descriptor = open(privateFile: path)
        guard descriptor >= 0 else {
            throw StoreError(.unavailable, "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw StoreError(
                .unavailable, "\(path) cannot be kept from others: \(String(cString: strerror(errno)))")
        }
    }

    private static func open(privateFile path: String) -> Int32 {
        #if canImport(Glibc)
        Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #elseif canImport(Musl)
        Musl.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #else
        Darwin.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #endif
    }
}

extension SQLiteControlStore {
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
