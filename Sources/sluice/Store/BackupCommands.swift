import AMQP
import ArgumentParser
import Messages
import Operations
import Storage
import StorageSQLite
import SyncModel

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
        let manifest = try await SQLiteStores.backUp(
            try settings.storeFolder(), to: folder, now: { UnixTime.milliseconds })
        let bytes = manifest.files.reduce(0) { $0 + $1.bytes }
        try output.show(
            manifest,
            "cluster \(manifest.cluster): \(manifest.files.count - 1) slices and the control store, \(bytes >> 10) KiB, in \(folder)"
        )
    }
}

struct RestoreCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a store of a backup, in an empty folder.",
        discussion: """
            Stop the cluster's processes first. The backup is verified before anything is written. Clients that are ahead of it
            reset when they come back, all of an app under one campaign; those with our SDK bring back what they wrote since.
            """)

    @OptionGroup var common: ReportOptions
    @Argument(help: "The backup's folder.") var folder: String
    @Flag(help: "Only verify the backup.") var verify = false
    @Flag(help: "Restore although workers consume the cluster's queues.") var force = false

    private struct Report: Encodable {
        var store: String
        var cluster: String
        /// When the backup began.
        var backupFrom: UInt64
        /// What the names of the apps' campaigns begin with.
        var campaigns: String?
    }

    func run(_ settings: ClusterSettings) async throws {
        let target = try settings.storeFolder()
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
        let manifest = try await SQLiteStores.restore(folder, to: target, as: restore)
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
}
