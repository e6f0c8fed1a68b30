internal import Dispatch
internal import Foundation
internal import RealmState

/// Opens realms: makes or shares the core, brings its schema up to date, starts its session.
enum RealmOpener {
    /// Opens a realm; file work runs on the calling thread.
    static func open(_ configuration: Realm.Configuration, _ confinement: Confinement?) throws -> RealmInstance {
        while true {
            let core = try RealmRegistry.open(configuration.location()) { try makeCore($0, configuration) }
            let place = confinement?.known(to: core)
            if let instance = try Self.instance(of: core, configuration, place, downloadsFirst: false) {
                return instance
            }
        }
    }

    /// The schema version of a file, without what a configuration declares.
    static func schemaVersion(of configuration: Realm.Configuration) throws -> UInt64 {
        try RealmRegistry.open(configuration.location()) { try makeCore($0, configuration) }.schemaVersion ?? 0
    }

    /// Opens a realm without blocking the caller's executor.
    /// - Parameter downloadsFirst: whether the caller waits for the server's data. Then what the file lacks of the declared schema is not
    ///   added, only checked, and a new session rests until the caller waits: it must not be done before somebody listens.
    static func open(
        _ configuration: Realm.Configuration, _ confinement: Confinement?, downloadsFirst: Bool = false
    ) async throws -> RealmInstance {
        while true {
            let core = try await RealmRegistry.open(configuration.location(), on: FileQueue.queue) {
                try makeCore($0, configuration)
            }
            let instance = try await FileQueue.run {
                try Self.instance(of: core, configuration, confinement, downloadsFirst: downloadsFirst)
            }
            if let instance { return instance }
        }
    }

    /// - Returns: nil if the realm was in memory and is gone by now: the next one of its name is another.
    private static func instance(
        of core: RealmCore, _ configuration: Realm.Configuration, _ confinement: Confinement?, downloadsFirst: Bool
    ) throws -> RealmInstance? {
        try checkIsFor(configuration, core)
        if try isOfOtherSchema(core, configuration) {
            guard downloadsFirst else { throw otherSchema(core, configuration) }
        } else if downloadsFirst {
            _ = try additionsAreNeeded(for: configuration, in: core)
        } else {
            try declareSchema(of: configuration, in: core)
        }
        guard let sync = configuration.syncConfiguration else {
            return RealmInstance(
                core: core, configuration: configuration, session: nil, confinement: confinement)
        }
        try claimFile(of: core, for: sync, awaitingDownload: downloadsFirst)
        // The session of a realm whose schema is still to be declared has nothing to ask for yet.
        if !downloadsFirst { try configuration.subscribeInitially(in: core) }
        if let url = core.url { try? sync.user.core.store.addFile(url.path, user: sync.user.id) }
        guard let session = sync.user.core.sync.session(for: core, configuration, sync, resting: downloadsFirst) else {
            return nil
        }
        // The instance takes a share of its own.
        defer { session.releaseInstance(of: core) }
        // A session that an earlier opening has started has to upload what this one has added.
        session.subscriptionsChanged()
        return RealmInstance(
            core: core, configuration: configuration, session: session, confinement: confinement)
    }

    // MARK: The core

    /// Opens a realm that is closed and that no other caller can open meanwhile.
    private static func makeCore(
        _ location: RealmCore.Location, _ configuration: Realm.Configuration
    ) throws -> RealmCore {
        let owner = configuration.syncConfiguration.map { RealmCore.Owner($0.user) }
        // The file of a synced realm is written by its session, whatever the app may do.
        let readOnly = configuration.readOnly && owner == nil
        func make() throws -> RealmCore {
            try RealmCore(
                location: location, isSynced: owner != nil, owner: owner, readOnly: readOnly, key: configuration.key())
        }
        guard case .file(let url) = location else { return try make() }
        if readOnly, configuration.seedFilePath == nil, !FileManager.default.fileExists(atPath: url.path) {
            throw Realm.Error(.fileNotFound, "there is no realm to be read", fileURL: url)
        }
        if let seed = configuration.seedFilePath { try copySeed(seed, to: url, configuration.key()) }
        if let isWanted = configuration.shouldCompactOnLaunch, !readOnly {
            try RealmCompaction.run(url, configuration.key(), ifWanted: isWanted)
        }
        let core = try make()
        // What was written after the last upload has still to go up before an outdated file may go.
        guard !readOnly,
            try core.sync.isOutdated == true && core.isUploaded(upTo: core.snapshot.version)
                || configuration.deleteRealmIfMigrationNeeded && needsMigration(core, to: configuration)
        else {
            return core
        }
        try core.file.close()
        let files = RealmFileSet(main: url)
        guard !files.isOpen else {
            throw Realm.Error(.alreadyOpen, "the realm needs a migration and is still being closed", fileURL: url)
        }
        try RealmRegistry.withoutOtherProcesses(files) { _ = try files.delete() }
        return try make()
    }

    /// Copies the seed unless there is a realm already. The seed may be open: what is still in its log belongs to it. A
    /// crash leaves the whole copy or none.
    private static func copySeed(_ seed: URL, to url: URL, _ key: EncryptionKey?) throws {
        let manager = FileManager.default
        guard !manager.fileExists(atPath: url.path) else { return }
        let partial = URL(fileURLWithPath: url.path + ".partial")
        do {
            // Before the copy is there, which could not be opened either.
            let encryption = try FileEncryption.of(seed, key)
            try FileLayout.makeFolder(url.deletingLastPathComponent())
            try RealmRegistry.withoutOtherProcesses(RealmFileSet(main: url)) {
                guard !manager.fileExists(atPath: url.path) else { return }
                RealmFileSet.deleteDatabase(partial)
                let hasLog = manager.fileExists(atPath: seed.path + "-wal")
                if let encryption {
                    // Always anew: files of one salt would be taken for one another by what is left to later launches.
                    try FileActionRunner.copyDatabase(seed, to: partial, encryption, isImmutable: !hasLog)
                } else if hasLog {
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

    /// Checks that a core which another caller has opened may be shared: a synced one by the same user, a local one by
    /// local realms.
    private static func checkIsFor(_ configuration: Realm.Configuration, _ core: RealmCore) throws {
        let owner = configuration.syncConfiguration.map { RealmCore.Owner($0.user) }
        guard try configuration.key() == core.file.encryption?.key else {
            throw Realm.Error(
                .invalidDatabase,
                core.file.encryption == nil
                    ? "the realm is open, and its file is not encrypted: open it without an encryptionKey"
                    : "the realm is open with another encryptionKey than this one: open it with the same",
                fileURL: core.url)
        }
        guard core.isSynced == (owner != nil) else {
            throw Realm.Error(
                .incompatibleHistories, "the realm is open as a \(core.isSynced ? "synced" : "local") one",
                fileURL: core.url)
        }
        if let owner, let other = core.owner, owner != other {
            throw Realm.Error(
                .fail,
                "the realm is open, or its uploads are still under way, for \(other); \(owner) needs a fileURL or an "
                    + "inMemoryIdentifier of its own", fileURL: core.url)
        }
    }

    /// A file belongs to one partition or to flexible sync, and to the user who opened it last.
    /// - Parameter awaitingDownload: whether the opening waits for the server's data.
    private static func claimFile(
        of core: RealmCore, for sync: SyncConfiguration, awaitingDownload: Bool
    ) throws {
        let claim = sync.target.claim
        func isClaimed(_ state: SyncFileState) throws -> Bool {
            if let partition = state.partition, partition != claim {
                throw Realm.Error(
                    .incompatibleHistories,
                    "the file is of another partition or sync mode: of \(partition), to be opened as of \(claim)",
                    fileURL: core.url)
            }
            return state.partition != nil && state.userID == sync.user.id
        }
        guard try !isClaimed(core.sync) else { return }
        core.lock.lock()
        defer { core.lock.unlock() }
        // Again: another opening may have been first, and its session may have an identity by now.
        var state = core.sync
        guard try !isClaimed(state) else { return }
        if state.partition == nil { state.awaitsFirstDownload = state.awaitsFirstDownload ?? awaitingDownload }
        state.partition = claim
        state.userID = sync.user.id
        try core.setSync(state)
    }

    // MARK: The schema

    /// Adds to a realm that is open already; its session uploads what was added, and asks for the initial subscriptions.
    static func declareSchema(for instance: RealmInstance) throws {
        try declareSchema(of: instance.configuration, in: instance.core)
        try instance.configuration.subscribeInitially(in: instance.core)
        instance.session?.subscriptionsChanged()
    }

    /// Adds declared classes and properties that the file lacks, as an ordinary write, and notes a local realm's
    /// schema version.
    private static func declareSchema(of configuration: Realm.Configuration, in core: RealmCore) throws {
        try addSchema(of: configuration, to: core)
        if !configuration.readOnly { try core.addIndexes(DeclaredClasses(of: configuration).descriptions()) }
    }

    private static func addSchema(of configuration: Realm.Configuration, to core: RealmCore) throws {
        if try migrate(core, to: configuration) { return }
        func isUpToDate() throws -> Bool {
            let version = try schemaVersion(of: configuration, in: core)
            let lacksNothing = try !additionsAreNeeded(for: configuration, in: core)
            return lacksNothing && (configuration.readOnly || version ?? 0 == core.schemaVersion ?? 0)
        }
        guard try !isUpToDate() else { return }
        if configuration.readOnly {
            let advice = core.isSynced ? "; open it with downloadBeforeOpen, so that the server's are there" : ""
            throw Realm.Error(
                .schemaMismatch, "the read-only realm lacks declared classes\(advice)", fileURL: core.url)
        }
        core.lock.lock()
        defer { core.lock.unlock() }
        // Again: another opening may have been first.
        guard try !isUpToDate() else { return }
        let version = try schemaVersion(of: configuration, in: core)
        var state = core.snapshot.state
        let changeset: [UInt8]
        let declared = try DeclaredClasses(of: configuration).descriptions()
        do {
            changeset = try state.record { try SchemaAdditions.apply(declared, to: &$0) }.changeset
        } catch let error as RecordingError {
            throw Realm.Error(.schemaMismatch, error.message, fileURL: core.url)
        }
        if state.hasChanges {
            try core.commitLocal(state, changeset: changeset, schemaVersion: version)
        } else if let version {
            try core.setSchemaVersion(version)
        }
    }

    /// Runs the app's migration block, if it is due.
    /// - Returns: whether it was.
    private static func migrate(_ core: RealmCore, to configuration: Realm.Configuration) throws -> Bool {
        guard let block = configuration.migrationBlock, SchemaMigration.isDue(core, configuration) else { return false }
        core.lock.lock()
        defer { core.lock.unlock() }
        // Again: another opening may have been first.
        guard SchemaMigration.isDue(core, configuration) else { return false }
        try SchemaMigration(core, configuration).run(block)
        return true
    }

    private static func additionsAreNeeded(
        for configuration: Realm.Configuration, in core: RealmCore
    ) throws -> Bool {
        try SchemaAdditions.areNeeded(
            DeclaredClasses(of: configuration).descriptions(), in: core.snapshot.state.schema,
            mode: !core.isSynced ? .local : configuration.isFlexible ? .flexible : .partition)
    }

    /// Whether the file of a flexible realm has another schema version than the configuration: then the server decides what becomes of
    /// it.
    static func isOfOtherSchema(_ core: RealmCore, _ configuration: Realm.Configuration) throws -> Bool {
        guard configuration.isFlexible, let last = core.schemaVersion else { return false }
        return last != configuration.schemaVersion
    }

    private static func otherSchema(_ core: RealmCore, _ configuration: Realm.Configuration) -> Realm.Error {
        Realm.Error(
            .fail,
            "The file has schema version \(core.schemaVersion ?? 0), and \(configuration.schemaVersion) is wanted: open the realm "
                + "with downloadBeforeOpen, so that what was not uploaded is, and the file is made anew.",
            fileURL: core.url)
    }

    /// The schema version that the realm is to have: nil for a realm of a partition; a local one's never decreases. A file
    /// without a version goes with any, and so does a flexible realm's once its server has said so.
    private static func schemaVersion(
        of configuration: Realm.Configuration, in core: RealmCore
    ) throws -> UInt64? {
        guard !core.isSynced else { return configuration.isFlexible ? configuration.schemaVersion : nil }
        let provided = configuration.schemaVersion
        guard let last = core.schemaVersion, provided != last else { return provided }
        if provided < last {
            throw Realm.Error(
                .fail, "Provided schema version \(provided) is less than last set version \(last).", fileURL: core.url)
        }
        if configuration.readOnly {
            throw Realm.Error(
                .fail, "Provided schema version \(provided) does not equal last set version \(last).",
                fileURL: core.url)
        }
        return provided
    }

    /// Whether the file has another schema version than declared, or classes or properties of other types.
    private static func needsMigration(_ core: RealmCore, to configuration: Realm.Configuration) throws -> Bool {
        if let last = core.schemaVersion, last != configuration.schemaVersion { return true }
        do {
            _ = try additionsAreNeeded(for: configuration, in: core)
            return false
        } catch Realm.Error.schemaMismatch {
            return true
        }
    }
}

extension RealmCore.Owner {
    init(_ user: User) { self.init(appID: user.core.id, userID: user.id, folder: user.core.layout.root) }
}
