internal import Foundation
internal import Logging
internal import RealmState
internal import SyncProtocol

/// Opens cores and brings their schema up to date.
enum RealmOpener {
    static func open(_ configuration: Realm.Configuration) throws -> RealmInstance {
        let location = try configuration.location()
        if case .file(let url) = location, let seed = configuration.seedFilePath,
            !FileManager.default.fileExists(atPath: url.path)
        {
            try copySeed(seed, to: url)
        }
        let core = try openCore(location, configuration)
        guard let sync = configuration.syncConfiguration else {
            return RealmInstance(core: core, configuration: configuration, session: nil)
        }
        try checkOwner(core, sync)
        if case .file(let url) = location { try? sync.user.core.store.addFile(url.path, user: sync.user.id) }
        let session = sync.user.core.sync.session(for: core, configuration)
        // The instance takes a share of its own.
        defer { session?.releaseInstance() }
        return RealmInstance(core: core, configuration: configuration, session: session)
    }

    /// The seed may be open: what is still in its log belongs to it. A crash leaves the whole copy or none.
    private static func copySeed(_ seed: URL, to url: URL) throws {
        let manager = FileManager.default
        let partial = URL(fileURLWithPath: url.path + ".partial")
        do {
            try FileLayout.makeFolder(url.deletingLastPathComponent())
            _ = try RealmCore.whileClosed(RealmFileSet(main: url)) {
                guard !manager.fileExists(atPath: url.path) else { return }
                RealmFileSet.deleteDatabase(partial)
                if manager.fileExists(atPath: seed.path + "-wal") {
                    try FileActionRunner.copyDatabase(seed, to: partial)
                } else {
                    try manager.copyItem(at: seed, to: partial)
                }
                try manager.moveItem(at: partial, to: url)
            }
        } catch let error as Realm.Error {
            throw error
        } catch {
            RealmFileSet.deleteDatabase(partial)
            throw Realm.Error(.fileOperationFailed, "the seed could not be copied: \(error)", fileURL: seed)
        }
    }

    private static func openCore(
        _ location: RealmCore.Location, _ configuration: Realm.Configuration
    ) throws -> RealmCore {
        let isSynced = configuration.syncConfiguration != nil
        let core = try RealmCore.open(location, isSynced: isSynced, readOnly: configuration.readOnly)
        do {
            try addSchema(configuration.dynamicSchema, to: core, configuration)
            return core
        } catch let error as Realm.Error
            where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded
        {
            guard case .file(let url) = location else { throw error }
            try core.file.close()
            RealmCore.forget(location)
            _ = try RealmCore.whileClosed(RealmFileSet(main: url)) { try RealmFileSet(main: url).delete() }
            let fresh = try RealmCore.open(location, isSynced: isSynced)
            try addSchema(configuration.dynamicSchema, to: fresh, configuration)
            return fresh
        }
    }

    /// Adds declared classes and properties that the file lacks, as an ordinary write.
    static func addSchema(
        _ declared: [ObjectSchemaDescription], to core: RealmCore, _ configuration: Realm.Configuration
    ) throws {
        let isSynced = core.isSynced
        guard try SchemaAdditions.areNeeded(declared, in: core.snapshot.state.schema, isSynced: isSynced) else {
            return
        }
        if configuration.readOnly { throw Realm.Error(.schemaMismatch, "the read-only file lacks declared classes") }
        core.lock.lock()
        defer { core.lock.unlock() }
        var state = core.snapshot.state
        let changeset: [UInt8]
        do {
            changeset = try state.record { try SchemaAdditions.apply(declared, to: &$0) }.changeset
        } catch let error as RecordingError {
            throw Realm.Error(.schemaMismatch, error.message)
        }
        guard state.hasChanges else { return }
        try core.commitLocal(state, changeset: changeset)
    }

    /// A file belongs to one user and partition.
    private static func checkOwner(_ core: RealmCore, _ sync: SyncConfiguration) throws {
        let path = sync.partition.path
        func isOwned(_ state: SyncFileState) throws -> Bool {
            if let partition = state.partition, partition != path {
                throw Realm.Error(.incompatibleHistories, "the file is of another partition", fileURL: core.url)
            }
            return state.partition != nil && state.userID == sync.user.id
        }
        guard try !isOwned(core.sync) else { return }
        core.lock.lock()
        defer { core.lock.unlock() }
        // Again: another opening may have been first, and its session may have an identity by now.
        var state = core.sync
        guard try !isOwned(state) else { return }
        state.partition = path
        state.userID = sync.user.id
        try core.setSync(state)
    }
}
