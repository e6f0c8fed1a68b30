import ArgumentParser
import Foundation
import Messages
import Operations
import Storage
import StoragePostgreSQL
import StorageSQLite

struct BackupCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the whole store into an empty folder while the cluster runs.",
        discussion: """
            Everything that was acknowledged before the command began is in the copy. Each file is checked, and its checksum is
            in manifest.json, which is written last. The copy holds password hashes and signing keys: keep it as you keep those.
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The folder, which must be empty or not exist.") var folder: String

    func run(_ settings: ClusterSettings) async throws {
        let url = try StoreURL(settings.configuration.storeURL.revealed)
        let manifest = try await backUp(url, settings)
        do {
            try await record(manifest, url, settings)
        } catch {
            Printing.note("the backup is whole, but alerts will miss it, since the store could not note it: \(error)")
        }
        let bytes = manifest.files.reduce(0) { $0 + $1.bytes }
        try output.show(
            manifest,
            "cluster \(manifest.cluster): \(manifest.files.count - 1) slices and the control store, \(bytes >> 10) KiB, in \(folder)"
        )
    }

    /// Notes in the store when the backup began, for the coordinators to tell.
    private func record(_ manifest: BackupManifest, _ url: StoreURL, _ settings: ClusterSettings) async throws {
        guard case .postgres = url else {
            return try await SQLiteStores.recordBackup(of: manifest.startedAt, in: try url.requireFolder())
        }
        let client = try url.postgresClient(for: "store.url", logger: settings.quietLogger)
        try await client.closing { client in
            try await PostgresControlStore.open(client).recordBackup(of: manifest.startedAt)
        }
    }

    private func backUp(_ url: StoreURL, _ settings: ClusterSettings) async throws -> BackupManifest {
        guard case .postgres = url else {
            return try await SQLiteStores.backUp(
                try url.requireFolder(), to: folder, now: { UnixTime.milliseconds })
        }
        let startedAt = UnixTime.milliseconds
        let client = try url.postgresClient(for: "store.url", logger: settings.quietLogger)
        return try await client.closing { client in
            try await PostgresTables.ofOneMoment(client) { tables, cluster, slices in
                try await SQLiteStores.backUp(
                    tables, of: cluster, slices: slices, to: folder, startedAt: startedAt,
                    now: { UnixTime.milliseconds }, report: { $0.print() })
            }
        }
    }
}

struct RestoreCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store of a backup, in an empty folder or in the empty tables of a PostgreSQL schema.",
        discussion: """
            Either kind of store may be made of any backup. Tables are made by sluice store init. Stop the cluster's processes first. The backup is verified before anything is written. Clients that are ahead of it
            reset when they come back, all of an app under one campaign; those with our SDK bring back what they wrote since.
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The backup's folder.") var folder: String
    @Flag(help: "Only verify the backup.") var verify = false
    @Flag(help: "Restore although workers consume the cluster's queues.") var force = false
    @Option(
        help: ArgumentHelp(
            "Where the backup is unpacked on its way to PostgreSQL: a folder with as much room, by default the system's for temporary files.",
            valueName: "folder"))
    var work: String?

    private struct Report: Encodable {
        var store: String
        var cluster: String
        /// When the backup began.
        var backupFrom: UInt64
        /// What the names of the apps' campaigns begin with.
        var campaigns: String?
    }

    func run(_ settings: ClusterSettings) async throws {
        let url = try StoreURL(settings.configuration.storeURL.revealed)
        if verify {
            let manifest = try await SQLiteStores.verify(backup: folder)
            let report = Report(store: folder, cluster: manifest.cluster, backupFrom: manifest.startedAt)
            return try output.show(
                report,
                "the backup of \(Printing.time(ofUnixMilliseconds: manifest.startedAt)) is whole")
        }
        // A worker that lost its files goes on with them until it ends, and would acknowledge what nobody keeps.
        if !force {
            try await settings.requireStopped(
                "They would go on with the files that are gone (--force restores all the same)")
        }
        let restore = RestoreRecord.now()
        let (target, manifest) = try await make(url, as: restore, settings)
        let report = Report(
            store: target, cluster: manifest.cluster, backupFrom: manifest.startedAt, campaigns: restore.id)
        try output.show(
            report,
            """
            cluster \(manifest.cluster) is at \(target) as it was at \(Printing.time(ofUnixMilliseconds: manifest.startedAt))
            start its processes; clients that are ahead reset under the campaigns \(restore.id).APP
            """)
        if manifest.prefix != settings.topology.prefix {
            Printing.note("its amqp.prefix is \(manifest.prefix), and the settings say \(settings.topology.prefix)")
        }
    }

    /// - Returns: where the store is, and of what it was made.
    private func make(
        _ url: StoreURL, as restore: RestoreRecord, _ settings: ClusterSettings
    ) async throws -> (place: String, BackupManifest) {
        guard case .postgres = url else {
            let target = try url.requireFolder()
            return (target, try await SQLiteStores.restore(folder, to: target, as: restore))
        }
        let parent = work ?? FileManager.default.temporaryDirectory.path
        let own = "\(parent)/sluice-\(restore.id)"
        let client = try url.postgresClient(for: "store.url", logger: settings.quietLogger)
        return try await client.closing { client in
            try await PostgresInstallation(client).require()
            let tables = PostgresTables(client)
            let manifest = try await SQLiteStores.restore(
                folder, to: tables, as: restore, work: own, report: { $0.print() })
            return (tables.place, manifest)
        }
    }
}

extension StoreCopy.Progress {
    /// Tells the operator how far a copy is.
    func print() {
        let word = step == .copying ? "copying" : "comparing"
        Printing.note("\(word) \(part), \(partsDone) of \(parts), \(rows) rows so far")
    }
}
