import ArgumentParser
import Foundation
import Logging
import Storage
import StoragePostgreSQL
import StorageSQLite
import SyncModel

struct StoreCopyCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy a whole store into an empty one of any engine, and compare the two.",
        discussion: """
            Stop the cluster's processes first. A store in PostgreSQL must have its tables (sluice store init) and \
            nothing in them. The copy goes slice by slice; when it was interrupted, the same command goes on. \
            Processes refuse the copy until all of it has been compared with its source by digests. Then set \
            store.url to it and start them again.

            Passwords belong into libpq's password file or PGPASSWORD, not into the URLs: everybody on the machine sees those.
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The store to copy, sqlite:<folder> or postgres://user@host/database.") var from: String
    @Argument(help: "The empty store.") var to: String
    @Flag(help: "Copy although workers consume the cluster's queues.") var force = false

    private struct Report: Encodable {
        var from: String
        var to: String
        var cluster: String
        var slices: Int
        var realms: Int
        var rows: Int
        var bytes: Int
        var digest: String
        var continued: Bool
    }

    func run(_ settings: ClusterSettings) async throws {
        let (source, target) = (try StoreURL(from), try StoreURL(to))
        guard source != target else { throw CommandFailure(.badInput, "both are the same store") }
        if !force { try await settings.requireStopped("What they write meanwhile would be missing") }
        let logger = settings.quietLogger
        let stores = try source.stores(logger: logger)
        let inspector = stores.inspector()
        guard let place = inspector.place, case .named(let cluster) = try await inspector.cluster() else {
            throw CommandFailure(
                .notFound, "there is no store at the first URL that a process of this version has opened")
        }
        let slices = try await inspector.slices()
        for slice in slices { try await Self.requireFree(slice, inspector) }
        // Brings files of an older version to this one, as a process that starts does.
        _ = try await stores.control()
        for slice in slices { _ = try await stores.store(for: slice, mayMake: false) }
        let copied = try await StoreCopy(
            from: try await source.tables(logger: logger), to: try await target.tables(logger: logger), slices: slices,
            cluster: cluster.id
        ) { $0.print() }.run()
        let there = try target.stores(logger: logger).inspector().place ?? "the second URL"
        try output.show(
            Report(
                from: place, to: there, cluster: cluster.id, slices: copied.slices, realms: copied.realms,
                rows: copied.rows, bytes: copied.bytes, digest: copied.digest, continued: copied.isContinued),
            """
            cluster \(cluster.id) is at \(there): \(copied.slices.counted("slice")), \(copied.realms.counted("realm")), equal by digest \
            \(copied.digest.prefix(16))
            set store.url to it in every process, and keep the old store until you trust the new one
            """)
    }

    /// A worker may live where the broker cannot tell.
    private static func requireFree(_ slice: SliceNumber, _ inspector: any StoreInspector) async throws {
        guard let owner = try await inspector.reader(for: slice).ownership(), !owner.isReleased,
            owner.leaseUntil > UnixTime.milliseconds
        else { return }
        throw CommandFailure(
            .badInput,
            "worker \(owner.owner) has slice \(slice) until \(Printing.time(ofUnixMilliseconds: owner.leaseUntil)): stop it, or wait until then"
        )
    }
}

extension StoreURL {
    /// The store's rows, with what is needed to write them.
    fileprivate func tables(logger: Logger) async throws -> any StoreCopyTarget {
        switch self {
        case .sqlite(let folder): return SQLiteTables(folder: folder)
        case .sqliteInMemory:
            throw CommandFailure(.badInput, "a store in memory belongs to its process: it cannot be copied")
        case .postgres:
            let client = try postgresClient(for: "the URL", logger: logger)
            try await PostgresInstallation(client).require()
            return PostgresTables(client)
        }
    }
}
