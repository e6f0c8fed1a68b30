import ArgumentParser
import Backups
import Foundation
import Operations
import Storage
import StoragePostgreSQL
import StorageSQLite
import SyncModel

struct BackupCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract:
            "Copy the whole store while the cluster runs: into an empty folder, or packed to where backups are kept.",
        discussion: """
            Everything that was acknowledged before the command began is in the copy. Each file is checked, and its \
            checksum is in manifest.json, which is written last. The copy holds password hashes and signing keys: \
            keep it as you keep those.

              sluice backup /backup/2026-11-22   # an empty or new folder: plain files
              sluice backup /backup --keep 14    # packed, in a folder of its own
              sluice backup s3://bucket/sluice --keep 14   # backup.endpoint and so on
              sluice backup s3://bucket/sluice --list
              sluice backup --made-elsewhere     # pg_basebackup has made one

            Without a place it is backup.place. backup.key_file or backup.passphrase_file seal what is packed; \
            without that file nobody can ever read it again.
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The folder, or s3://bucket/prefix; backup.place if left out.") var place: String?
    @Option(help: "How many packed backups stay at the place; backup.keep if left out, 0 for all.") var keep: Int?
    @Flag(
        help: "Pack it, in a folder of its own at the place: so does --keep, and so does a place that is not a folder.")
    var packed = false
    @Flag(help: "Only list the packed backups at the place.") var list = false
    @Flag(
        help: "Make none: note in the store that one was made by other means, now, for the alerts that tell of its age."
    )
    var madeElsewhere = false
    @Option(
        help: ArgumentHelp(
            "Where a packed backup is made before it goes to its place: a folder with as much room as the store takes.",
            valueName: "folder"))
    var work: String?

    private struct Report: Encodable {
        var place: String
        /// The backup's name at the place; absent of a folder of its own.
        var name: String?
        var manifest: BackupManifest
        /// What all files take there.
        var bytes: Int
        /// The names of older backups that are gone.
        var removed: [String]
    }

    func run(_ settings: ClusterSettings) async throws {
        if madeElsewhere {
            guard place == nil, keep == nil, !packed, !list, work == nil else {
                throw CommandFailure(.badInput, "--made-elsewhere makes no backup: leave the rest out")
            }
            let now = UnixTime.milliseconds
            try await settings.note(backupOf: now)
            return try output.show(
                ["startedAt": now], "noted: a backup of \(Printing.time(ofUnixMilliseconds: now)), made by other means")
        }
        guard let place = place ?? settings.configuration.backupPlace else {
            throw CommandFailure(.badInput, "say where: a folder, s3://bucket/prefix, or the setting backup.place")
        }
        let count = keep ?? settings.configuration.backupKeep
        guard count >= 0 else { throw CommandFailure(.badInput, "--keep: expected 0 or more, found \(count)") }
        let isPacked = packed || keep != nil || self.place == nil || place.hasPrefix("s3://")
        if list {
            return try await settings.withArchive(at: place) { archive in
                let names = try await archive.whole()
                try output.show(names, names.joined(separator: "\n"))
            }
        }
        guard isPacked else { return try await copy(to: place, settings) }
        try await settings.withArchive(at: place) { archive in
            try await BackupWork.with(work ?? settings.work(for: place)) { folder in
                try await pack(archive, by: folder, keeping: count, settings)
            }
        }
    }

    /// Makes a backup in a folder of its own, its files as they are.
    private func copy(to folder: String, _ settings: ClusterSettings) async throws {
        let manifest = try await settings.backUp(to: folder)
        await settings.noteBackup(manifest)
        let bytes = manifest.files.reduce(0) { $0 + $1.bytes }
        try output.show(
            manifest,
            "cluster \(manifest.cluster): \(manifest.files.count - 1) slices and the control store, \(bytes >> 10) KiB, in \(folder)"
        )
    }

    private func pack(
        _ archive: BackupArchive, by folder: String, keeping count: Int, _ settings: ClusterSettings
    ) async throws {
        let made = "\(folder)/backup"
        let manifest = try await settings.backUp(to: made)
        let name = BackupName.of(manifest.startedAt)
        let size = ByteCount()
        do {
            try await archive.put(made, files: manifest.files.map(\.name), as: name) { _, bytes in size.add(bytes) }
        } catch let error as BackupError {
            throw CommandFailure(error)
        }
        await settings.noteBackup(manifest)
        var removed: [String] = []
        if count > 0 {
            do {
                removed = try await archive.keep(count, at: UnixTime.milliseconds)
            } catch {
                Printing.note("the backup is whole, but older ones could not be taken away: \(error)")
            }
        }
        let report = Report(place: archive.words, name: name, manifest: manifest, bytes: size.value, removed: removed)
        let gone = removed.isEmpty ? "" : "\nremoved \(removed.joined(separator: ", "))"
        try output.show(
            report,
            "cluster \(manifest.cluster): \((manifest.files.count - 1).counted("slice")) and the control store, "
                + "\(size.value >> 10) KiB, as \(name) in \(archive.words)\(gone)")
    }
}

extension ClusterSettings {
    /// Copies the store into a folder, which must be empty or not exist.
    func backUp(to folder: String) async throws -> BackupManifest {
        let url = try storeURL()
        guard case .postgres = url else {
            return try await SQLiteStores.backUp(
                try url.requireFolder(), to: folder, now: { UnixTime.milliseconds })
        }
        let startedAt = UnixTime.milliseconds
        let client = try url.postgresClient(for: "store.url", logger: quietLogger)
        return try await client.closing { client in
            try await PostgresTables.ofOneMoment(client) { tables, cluster, slices in
                try await SQLiteStores.backUp(
                    tables, of: cluster, slices: slices, to: folder, startedAt: startedAt,
                    now: { UnixTime.milliseconds }, report: { $0.print() })
            }
        }
    }

    /// Notes in the store when a backup began, for the coordinators to tell.
    func noteBackup(_ manifest: BackupManifest) async {
        do {
            try await note(backupOf: manifest.startedAt)
        } catch {
            Printing.note("the backup is whole, but alerts will miss it, since the store could not note it: \(error)")
        }
    }

    /// - Parameter moment: that the backup would bring back, in milliseconds of Unix time.
    fileprivate func note(backupOf moment: UInt64) async throws {
        let url = try storeURL()
        guard case .postgres = url else {
            return try await SQLiteStores.recordBackup(of: moment, in: try url.requireFolder())
        }
        let client = try url.postgresClient(for: "store.url", logger: quietLogger)
        try await client.closing { client in
            try await PostgresControlStore.open(client).recordBackup(of: moment)
        }
    }
}
