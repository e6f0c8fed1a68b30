import ArgumentParser
import Backups
import Foundation
import Messages
import Operations
import Storage
import StoragePostgreSQL
import StorageSQLite
import SyncModel

struct RestoreCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store of a backup, in an empty folder or in the empty tables of a PostgreSQL schema.",
        discussion: """
            Either kind of store may be made of any backup. Tables are made by sluice store init. Stop the cluster's \
            processes first. The backup is verified before anything is written. Clients that are ahead of it reset \
            when they come back, all of an app under one campaign; those with our SDK bring back what they wrote \
            since.

              sluice restore /backup/2026-11-22   # a backup's own folder
              sluice restore s3://bucket/sluice/20261122T020000Z   # a packed one
              sluice restore s3://bucket/sluice --latest
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The backup: its folder, or its name at s3://bucket/prefix/; with --latest where backups are kept.")
    var backup: String
    @Flag(help: "The newest of the packed backups that are kept there.") var latest = false
    @Flag(help: "Only verify the backup.") var verify = false
    @Flag(help: "Restore although workers consume the cluster's queues.") var force = false
    @Option(
        help: ArgumentHelp(
            "Where a packed backup is unpacked, and every one on its way to PostgreSQL: a folder with as much room, or twice; else the system's own.",
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
        guard let (place, name) = try packed() else { return try await restore(backup, settings) }
        try await settings.withArchive(at: place) { archive in
            try await BackupWork.with(work ?? FileManager.default.temporaryDirectory.path) { folder in
                var chosen = name
                if chosen == nil { chosen = try await archive.whole().last }
                guard let chosen else { throw CommandFailure(.notFound, "there is no backup at \(archive.words)") }
                try await archive.fetch(chosen, into: folder) { data in
                    try BackupManifest(decoding: data).files.map { ($0.name, $0.bytes) }
                }
                Printing.note("fetched \(chosen) from \(archive.words)")
                try await restore(folder, settings)
            }
        }
    }

    /// Where a packed backup is, and its name if it is not the newest; nil of a folder whose files are as they are.
    private func packed() throws -> (place: String, name: String?)? {
        if latest { return (backup, nil) }
        let path = backup.hasSuffix("/") ? String(backup.dropLast()) : backup
        guard let slash = path.lastIndex(of: "/"), BackupName.isOne(String(path[path.index(after: slash)...])) else {
            guard !backup.hasPrefix("s3://") else {
                throw CommandFailure(
                    .badInput,
                    "\(backup): expected s3://bucket/prefix/NAME, of a name that sluice backup --list has, or --latest")
            }
            return nil
        }
        // A folder of that name may have been made by a copy as it is.
        guard !FileManager.default.fileExists(atPath: "\(path)/\(BackupArchive.manifest)") else { return nil }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private func restore(_ folder: String, _ settings: ClusterSettings) async throws {
        let url = try settings.storeURL()
        if verify {
            let manifest = try await SQLiteStores.verify(backup: folder)
            let report = Report(store: backup, cluster: manifest.cluster, backupFrom: manifest.startedAt)
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
        let (target, manifest) = try await make(url, of: folder, as: restore, settings)
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
        _ url: StoreURL, of folder: String, as restore: RestoreRecord, _ settings: ClusterSettings
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
        Printing.note("\(word) \(part), \(partsDone) of \(parts), \(rows.counted("row")) so far")
    }
}
