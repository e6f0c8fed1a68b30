internal import Changesets
public import Foundation
internal import RealmState
import SyncModel

extension Realm {
    /// Whether there is a file.
    public static func fileExists(for configuration: Configuration) -> Bool {
        configuration.fileURL.map { RealmFileSet(main: $0).exists } ?? false
    }

    /// Deletes a realm's files.
    /// - Returns: false if there was none.
    /// - Throws: `Realm.Error` with code `alreadyOpen` while the realm is open in this process, `incompatibleLockFile`
    ///   while it is in another.
    @discardableResult
    public static func deleteFiles(for configuration: Configuration) throws -> Bool {
        guard let url = configuration.fileURL else { return false }
        let files = RealmFileSet(main: url)
        guard let existed = try RealmRegistry.whileClosed(files, { try files.delete() }) else {
            throw Realm.Error(.alreadyOpen, "the realm is open", fileURL: url)
        }
        if let sync = configuration.syncConfiguration {
            try? sync.user.core.store.removeFileActions(path: OpenFiles.canonical(url).path)
        }
        return existed
    }

    /// Copies the realm as it is now to where `configuration` says.
    ///
    /// A local copy has no history and never syncs. A synced copy has the newest version's schema and objects, also if this
    /// realm is frozen or does not refresh, and asks the server for an identity of its own. Every write must have been
    /// uploaded, and what the server had before it downloaded: `wait(for: .upload)`, then `wait(for: .download)`. Classes and
    /// properties that opening has added need not have been: the copy uploads them too.
    ///
    /// The copy is encrypted if `configuration` has a key, whether this realm is or not.
    /// - Throws: `Realm.Error`: `fileExists`; `fail` before both waits have returned; `invalidInput` without a file, or with a key of a
    ///   wrong length.
    public func writeCopy(configuration: Configuration) throws {
        precondition(!instance.isInTransaction, "writeCopy cannot run inside a write transaction")
        guard let url = configuration.fileURL else { throw Error(.invalidInput, "the copy needs a fileURL") }
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw Error(.fileExists, "there is a file already", fileURL: url)
        }
        try RealmCopy.write(instance, to: url, configuration)
    }

    /// Copies the realm as it is now into a local realm.
    /// - Throws: `Realm.Error`.
    public func writeCopy(toFile fileURL: URL, encryptionKey: Data? = nil) throws {
        try writeCopy(configuration: Configuration(fileURL: fileURL, encryptionKey: encryptionKey))
    }
}

/// Makes copies of realms.
enum RealmCopy {
    static func write(_ instance: RealmInstance, to url: URL, _ configuration: Realm.Configuration) throws {
        let key = try configuration.key()
        let source = instance.configuration.syncConfiguration
        var snapshot = instance.current
        var sync: SyncFileState?
        var additions: [Changeset] = []
        var subscriptions: SubscriptionSets?
        if let target = configuration.syncConfiguration {
            if let source {
                try checkModes(source.target.mode, target.target.mode)
                let known = try knownToServer(instance.core)
                snapshot = known.snapshot
                sync = try state(for: target, from: known.sync)
                additions = known.additions
                if target.target.mode == .flexible { subscriptions = known.subscriptions.copied }
            } else {
                try checkModes(nil, target.target.mode)
                sync = state(for: target)
            }
        }
        var commit = FileCommit(version: 2)
        commit.subscriptions = subscriptions.map { SubscriptionChange($0) }
        commit.schema = snapshot.state.schema
        commit.copied = snapshot.state
        commit.sync = sync
        if let sync {
            let uploads =
                try source == nil ? ReadFailures.collecting { try changesets(of: snapshot.state, at: url) } : additions
            addUploads(uploads, to: &commit, sync, instance.core.nextTimestamp())
        } else if source == nil {
            commit.schemaVersion = instance.core.schemaVersion
        }
        // Under another name until it is complete: a crash must not leave half a realm.
        let partial = URL(fileURLWithPath: url.path + ".partial")
        RealmFileSet.deleteDatabase(partial)
        do {
            let file = try RealmFile(url: partial, key: key)
            try ReadFailures.collecting { try file.write(commit) }
            try file.closeWithoutLog()
            try FileManager.default.moveItem(at: partial, to: url)
        } catch {
            RealmFileSet.deleteDatabase(partial)
            if let error = error as? Realm.Error { throw error }
            throw Realm.Error(.fileOperationFailed, "the copy could not be written: \(error)", fileURL: url)
        }
    }

    /// Checks that a realm can be copied for a session of another mode: the objects of a flexible realm came by its
    /// subscriptions, which nothing else has.
    /// - Parameter source: nil for a local realm.
    private static func checkModes(_ source: SyncMode?, _ target: SyncMode) throws {
        guard source != target, source == .flexible || target == .flexible else { return }
        throw Realm.Error(
            .invalidInput,
            "a \(source?.rawValue ?? "local") realm cannot be copied to a \(target.rawValue) realm; copy its objects one by one"
        )
    }

    private struct Known {
        var snapshot: RealmSnapshot
        var sync: SyncFileState
        var subscriptions: SubscriptionSets
        /// What opening added to the schema and the server may not know of.
        var additions: [Changeset]
    }

    /// The newest contents of a synced realm, with the progress that goes with them.
    ///
    /// What is in memory follows the file. By the time that the file is read, a download may have been stored that takes
    /// what was still to be uploaded out of the history: nothing would be found of it, and the progress would be the old one.
    /// - Throws: `Realm.Error` with code `fail` if the server does not know of all objects.
    private static func knownToServer(_ core: RealmCore) throws -> Known {
        for _ in 0..<100 {
            let newest = core.newest
            // The server may acknowledge what the download cursor has not passed. The copy, as another client, would be sent
            // it once more.
            let progress = newest.sync.progress
            let known = min(progress.upload.clientVersion, progress.download.clientVersion)
            let stored = try core.file.read { database in
                (
                    version: try database.realmVersion(),
                    changesets: try HistoryRows(database).schemaAdditions(after: known)
                )
            }
            guard stored.version == newest.snapshot.version else {
                // The writer that has committed the other version is about to publish it.
                Thread.sleep(forTimeInterval: 0.01)
                continue
            }
            guard let additions = stored.changesets else {
                throw Realm.Error(
                    .fail,
                    "there are changes that were not uploaded, or that the server's history has after what was downloaded; "
                        + "wait(for: .upload) first, then wait(for: .download)")
            }
            return Known(
                snapshot: newest.snapshot, sync: newest.sync, subscriptions: newest.subscriptions,
                additions: additions)
        }
        throw Realm.Error(
            .fail, "the realm's file is always of another version than what was read of it; try again",
            fileURL: core.url)
    }

    /// What a copy knows of its server: the identity is to be asked for.
    private static func state(for target: SyncConfiguration) -> SyncFileState {
        var sync = SyncFileState()
        sync.partition = target.target.claim
        sync.userID = target.user.id
        // The copy has everything that there was to copy.
        sync.awaitsFirstDownload = false
        return sync
    }

    /// The same for a copy of a synced realm, which keeps the progress of the original's downloads.
    private static func state(for target: SyncConfiguration, from old: SyncFileState) throws -> SyncFileState {
        var sync = state(for: target)
        guard old.partition == sync.partition else {
            throw Realm.Error(.invalidInput, "a synced copy must be of the same partition")
        }
        // Without an identity the original has not heard of the app's rules either.
        sync.compatibility = old.ident == nil ? old.compatibility : old.rules
        sync.progress = old.progress
        sync.progress.download.clientVersion = 0
        sync.progress.upload = .init()
        return sync
    }

    /// Makes changesets local writes of the copy, which are still to be uploaded.
    private static func addUploads(
        _ changesets: [Changeset], to commit: inout FileCommit, _ sync: SyncFileState, _ timestamp: SyncTimestamp
    ) {
        commit.history = changesets.enumerated().map { index, changeset in
            HistoryEntry(
                version: ClientVersion(2 + UInt64(index)), originTimestamp: timestamp, originFile: 0,
                remoteVersion: sync.progress.download.serverVersion, changeset: changeset.encoded())
        }
        commit.version = ClientVersion(1 + UInt64(max(1, changesets.count)))
    }

    /// What a new realm's server is told of a local realm's contents.
    /// - Throws: `Realm.Error` with code `invalidInput` if no server takes something in it.
    private static func changesets(of state: RealmState, at url: URL) throws -> [Changeset] {
        var builder = StateChangesets(schema: state.schema)
        var result = [builder.schemaChangeset()]
        for table in state.schema.tables {
            for (key, object) in state.cursor(of: table.name) {
                let address = ObjectAddress(table.name, key)
                if let misfit = object.misfits(address, in: state.schema).first {
                    throw Realm.Error(.invalidInput, "the copy could not be synced: \(misfit)", fileURL: url)
                }
                result += builder.append(address, object)
            }
        }
        if let last = builder.finish() { result.append(last) }
        return try result.filter { changeset in
            let bytes = changeset.isEmpty ? 0 : changeset.encoded().count
            try OversizedWrite.check(bytes, fileURL: url)
            return bytes > 0
        }
    }
}
