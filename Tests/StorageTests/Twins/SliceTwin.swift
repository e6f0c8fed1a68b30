import MemoryStorage
import PostgreSQL
import Storage
import StoragePostgreSQL
import StorageSQLite
import StorageSupport
import SyncModel
import TestSupport

/// One engine's store of a slice, opened twice as two processes do it, beside other engines' stores that are used in the same way.
struct SliceTwin: Sendable {
    typealias Opened = (store: any SliceStore, close: @Sendable () async -> Void)

    static let slice = SliceNumber(3)
    static let places = 2

    let engine: String
    private let open: @Sendable () async throws -> Opened
    private var opened: [Opened] = []

    private init(_ engine: String, _ open: @escaping @Sendable () async throws -> Opened) async throws {
        self.engine = engine
        self.open = open
        for _ in 0..<Self.places { opened.append(try await open()) }
    }

    func store(_ place: Int) -> any SliceStore { opened[place].store }

    /// Closes one of the stores and opens the slice anew in its place.
    mutating func reopen(_ place: Int) async throws {
        await opened[place].close()
        opened[place] = try await open()
    }

    private func close() async {
        for place in opened { await place.close() }
    }
}

extension SliceTwin {
    /// Runs `body` with an empty slice in each engine: in PostgreSQL where there is a server.
    static func withAll(_ body: (inout [SliceTwin]) async throws -> Void) async throws {
        let memory = MemorySliceStore(slice: slice)
        try await withFolder { folder in
            var twins = [
                // Has nothing to open: what it keeps is the object itself.
                try await SliceTwin("memory") { (memory, {}) },
                try await SliceTwin("SQLite") { (try await SQLiteStores(folder: folder).store(for: slice), {}) },
            ]
            guard TestPostgres.isAvailable else { return try await body(&twins) }
            try await withPostgresSchema { schema in
                let postgres = try await SliceTwin("PostgreSQL") {
                    let stores = try schema.stores(leases: .callers) { $0.connections = 2 }
                    return (try await stores.store(for: slice), { await stores.close() })
                }
                twins.append(postgres)
                let result: Result<Void, any Error>
                do { result = .success(try await body(&twins)) } catch { result = .failure(error) }
                await twins[2].close()
                try result.get()
            }
        }
    }
}
