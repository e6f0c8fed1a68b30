import Foundation
import GRDB
package import Storage
package import SyncModel

/// Copies of the embedded store, made while it is in use.
///
/// Each file is copied as it is at one moment; the moments differ. The slices come first and the control store last: what a slice
/// refers to (apps, users, campaigns) was in the control store before, so it is in its copy. The other way round, the control
/// store's copy may know more than a slice's: a later epoch, which putting the slice back raises, or a termination that the slice
/// has not carried out, which is published again.
extension SQLiteStores {
    /// Copies the store of a folder into another one.
    /// - Throws: `notFound` if there is no store, or not all of it; `alreadyExists` if the folder is not empty; `corrupt`.
    package static func backUp(
        _ source: String, to folder: String, now: @escaping @Sendable () -> UInt64
    ) async throws(StoreError) -> BackupManifest {
        let inspector = SQLiteStores(folder: source).inspector()
        guard case .named(let cluster) = try await inspector.cluster() else {
            throw StoreError(.notFound, "there is no store at \(source) that a process of this version has opened")
        }
        let made = try await inspector.slicesMade()
        return try await blocking("\(source) cannot be backed up") {
            try BackupFile.makeFolder(folder, for: "a backup")
            var manifest = BackupManifest(cluster: cluster, startedAt: now())
            for slice in made.keys.sorted() {
                manifest.files.append(try copy(SQLiteSliceStore.file(of: slice, in: source), to: folder))
            }
            manifest.files.append(try copy("\(source)/control.sqlite", to: folder))
            let known = try slicesMade(inCopy: folder)
            guard Set(known.keys) == Set(made.keys) else {
                throw StoreError(.unavailable, "slices were made meanwhile: make the backup again")
            }
            return try finish(manifest, in: folder, at: now())
        }
    }

    /// Notes in a folder's control store that a backup of a moment was made, beside the processes that use it: `backUp` must not open
    /// the store as they do, since one of a later version would bring its files to a new form.
    package static func recordBackup(of moment: UInt64, in folder: String) async throws(StoreError) {
        try await SQLiteFiles.use("\(folder)/\(BackupFile.control)", as: "backup", orSay: "the backup cannot be noted")
        {
            try $0.write { try $0.run(ClusterSettings.putting, ClusterSettings.backup, String(moment)) }
        }
    }

    /// Writes down what the backup consists of, now that it does.
    private static func finish(
        _ manifest: BackupManifest, in folder: String, at now: UInt64
    ) throws -> BackupManifest {
        var manifest = manifest
        manifest.finishedAt = now
        let path = "\(folder)/\(BackupManifest.name)"
        try SQLiteFiles.make(path, in: folder)
        try manifest.encoded().write(to: URL(filePath: path))
        try BackupFile.sync(path)
        try BackupFile.sync(folder)
        return manifest
    }

    /// Copies the store of another engine into a folder, in the same form, and compares the copy with it.
    ///
    /// - Parameters:
    ///   - source: everything of it as it is at one moment.
    ///   - startedAt: a time before that moment.
    /// - Throws: `alreadyExists` if the folder is not empty; `mismatch` if the copy does not equal the source.
    package static func backUp(
        _ source: any StoredTables, of cluster: ClusterRecord, slices: [SliceNumber], to folder: String,
        startedAt: UInt64, now: @escaping @Sendable () -> UInt64,
        report: @escaping @Sendable (StoreCopy.Progress) -> Void
    ) async throws(StoreError) -> BackupManifest {
        // A backup's file is one file; what is written into one leaves a log beside it.
        let written = "\(folder)/unfinished"
        try await blocking("\(folder) cannot be written") { try BackupFile.makeFolder(folder, for: "a backup") }
        _ = try await StoreCopy(
            from: source, to: SQLiteTables(folder: written), slices: slices, cluster: cluster.id, report: report
        ).run()
        return try await blocking("\(source.place) cannot be backed up") {
            var manifest = BackupManifest(cluster: cluster, startedAt: startedAt)
            let files = slices.sorted().map { SQLiteSliceStore.file(of: $0, in: written) }
            for file in files + ["\(written)/control.sqlite"] {
                manifest.files.append(try copy(file, to: folder))
                try FileManager.default.removeItem(atPath: file)
            }
            try FileManager.default.removeItem(atPath: written)
            return try finish(manifest, in: folder, at: now())
        }
    }

    /// Writes a backup into the empty store of another engine, and compares the two. A restore that was interrupted may be repeated.
    ///
    /// - Parameter work: a folder that is made, and removed at the end; it takes as much room as the backup.
    /// - Throws: as `restore`; `alreadyExists` if the target is not empty.
    package static func restore(
        _ folder: String, to target: any StoreCopyTarget, as restore: RestoreRecord, work: String,
        report: @escaping @Sendable (StoreCopy.Progress) -> Void
    ) async throws(StoreError) -> BackupManifest {
        let manifest = try await verify(backup: folder)
        _ = try await target.beginCopy(of: manifest.cluster)
        do throws(StoreError) {
            // What may have gone on since the backup is allowed for there, and files of an older version are brought to this one.
            _ = try await Self.restore(folder, to: work, as: restore)
            let stores = SQLiteStores(folder: work)
            _ = try await stores.control()
            let slices = try await stores.inspector().slices()
            for slice in slices { _ = try await stores.store(for: slice, mayMake: false) }
            _ = try await StoreCopy(
                from: SQLiteTables(folder: work), to: target, slices: slices, cluster: manifest.cluster, report: report
            ).run(startsOver: true)
        } catch {
            try? FileManager.default.removeItem(atPath: work)
            throw error
        }
        try? FileManager.default.removeItem(atPath: work)
        return manifest
    }

    private static func copy(_ source: String, to folder: String) throws -> BackupManifest.File {
        let file = BackupFile(folder: folder, name: (source as NSString).lastPathComponent)
        try file.copy(of: source)
        try file.checkIntegrity()
        return try file.described()
    }

    private static func slicesMade(inCopy folder: String) throws -> [SliceNumber: Epoch] {
        var configuration = Configuration()
        configuration.readonly = true
        let control = try DatabaseQueue(path: "\(folder)/control.sqlite", configuration: configuration)
        defer { try? control.close() }
        return try control.read { try ClusterSettings($0).slicesMade() }
    }

    // MARK: Restoring

    /// Says whether a backup is whole.
    /// - Throws: `notFound`, `corrupt`, `mismatch`.
    package static func verify(backup folder: String) async throws(StoreError) -> BackupManifest {
        let manifest = try BackupManifest(in: folder)
        try await blocking("the backup in \(folder) cannot be read") {
            for expected in manifest.files {
                let file = BackupFile(folder: folder, name: expected.name)
                let found = try file.described()
                try file.requireAlone()
                guard found == expected else {
                    throw StoreError(
                        .corrupt,
                        "\(file.path) is not what was backed up: expected \(expected.bytes) bytes, sha256 \(expected.sha256);"
                            + " found \(found.bytes) bytes, \(found.sha256)")
                }
                try file.checkIntegrity()
            }
        }
        return manifest
    }

    /// Makes a store of a backup. The control store comes last: without it no process takes the folder for a store.
    /// - Throws: as `verify`; `alreadyExists` if the folder is not empty.
    package static func restore(
        _ folder: String, to target: String, as restore: RestoreRecord
    ) async throws(StoreError) -> BackupManifest {
        let manifest = try await verify(backup: folder)
        let epochs = try await blocking("\(target) cannot be restored") {
            try BackupFile.makeFolder(target, for: "a store")
            for file in manifest.files where file.name != BackupFile.control {
                try BackupFile(folder: folder, name: file.name).put(into: target, as: file.name)
            }
            return try slicesMade(inCopy: folder)
        }
        var raised: [SliceNumber: Epoch] = [:]
        for (slice, known) in epochs.sorted(by: { $0.key < $1.key }) {
            let opened = SQLiteStores(folder: target)
            let store = try await opened.store(for: slice, mayMake: false)
            let last = max(known, try await store.ownership()?.epoch ?? Epoch(0))
            let epoch = Epoch(last.value + RestoreRecord.lostEpochs)
            try await store.putBack(restore, epoch: epoch)
            raised[slice] = epoch
        }
        let final = raised
        try await blocking("\(target) cannot be restored") {
            let waiting = "\(target)/\(BackupFile.control).restoring"
            try BackupFile(folder: folder, name: BackupFile.control).put(
                into: target, as: "\(BackupFile.control).restoring")
            let control = try DatabaseQueue(path: waiting)
            try control.write { db in
                for (slice, epoch) in final {
                    try db.run(ClusterSettings.putting, "slice.\(slice)", String(epoch.value))
                }
                try db.execute(sql: publishAgain)
            }
            try control.close()
            try BackupFile.sync(waiting)
            try FileManager.default.moveItem(atPath: waiting, toPath: "\(target)/control.sqlite")
            try BackupFile.sync(target)
        }
        return manifest
    }

    /// The latest termination of each app: a slice that was copied before it does not know of it. To publish it twice changes
    /// nothing.
    private static let publishAgain = """
        UPDATE campaigns SET state = 'publishing'
        WHERE number IN (SELECT max(number) FROM campaigns WHERE kind = 'termination' GROUP BY app)
            AND generation = (SELECT generation FROM apps WHERE apps.id = campaigns.app)
        """

    private static func blocking<Value: Sendable>(
        _ failure: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await onOwnThread(body)
        } catch {
            throw SQLiteFailure.storeError(error, failure)
        }
    }
}
