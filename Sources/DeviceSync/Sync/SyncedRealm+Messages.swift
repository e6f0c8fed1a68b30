internal import Changesets
internal import Logging
internal import Merge
import SyncModel
internal import SyncProtocol

/// What a realm's sessions say to the server, and hear from it.
extension SyncedRealm {
    // MARK: Sending

    func nextMessage(_ role: Role, on connection: isolated SyncConnection) -> ClientMessage? {
        guard settleBootstrap(role, on: connection) else { return nil }
        do {
            return try sessions[role]?.machine.nextMessage { cursor, version in
                let found = try scan(after: cursor, upTo: version)
                succeeded(at: .upload)
                return found
            }
        } catch {
            interrupt(role, error, .upload, on: connection)
            return nil
        }
    }

    /// Reads the next upload off the local history.
    private func scan(after cursor: UploadCursor, upTo version: ClientVersion) throws -> ClientSession.UploadScan {
        let planner = UploadPlanner(after: cursor)
        var isEmpty = true
        let next = try core.file.scan(after: cursor.clientVersion, upTo: version) { entries in
            planner.next(
                entries.lazy.map { entry in
                    isEmpty = false
                    return entry
                })
        }
        guard let batch = next else {
            // What was integrated has left the history at once if nothing local was left to merge with.
            let integrated = isEmpty && version == core.snapshot.version ? core.sync.progress.download.serverVersion : 0
            return ClientSession.UploadScan(
                progress: UploadCursor(
                    clientVersion: version, serverVersion: max(cursor.serverVersion, integrated)))
        }
        var entries: [UploadedChangeset] = []
        if let first = batch.versions.first, let last = batch.versions.last {
            entries = try core.file.localEntries(after: first - 1, upTo: last).map { entry in
                UploadedChangeset(
                    clientVersion: entry.version, serverVersion: entry.remoteVersion, timestamp: entry.originTimestamp,
                    changeset: entry.changeset)
            }
        }
        return ClientSession.UploadScan(progress: batch.progress, entries: entries)
    }

    // MARK: Receiving

    func receive(_ message: ServerMessage, _ role: Role, on connection: isolated SyncConnection) {
        guard let ident = sessions[role]?.machine.ident, let action = sessions[role]?.machine.receive(message),
            let core = role == .fresh ? resetFiles.fresh : core
        else { return }
        switch action {
        case .persistIdent(let file): persist(file, core, role, on: connection)
        case .integrate(let download): integrate(download, core, role, on: connection)
        case .markReached(let mark):
            guard completeSubscriptions(of: core, role, on: connection) else { return }
            switch role {
            case .main:
                guard schemaChange == nil else { return finishSchemaChange(on: connection) }
                noteFirstDownload()
                waits.markReached(mark)
                resetMaybeAcknowledged()
            case .fresh:
                if isFlexible, subscribeToPartition(core, on: connection) { return }
                // In flexible mode the set in force comes after set 0.
                guard !isFlexible || core.subscriptions.latest.state == .complete else { return }
                perform(reset.freshDownloaded(), on: connection)
            }
        case .queryRefused(let version, let reason): refused(version, reason, core, role, on: connection)
        case .sessionError(let code, let body):
            // UNBIND goes out before what takes this session's place.
            connection.enlist(ident)
            sessionError(code, body, role, on: connection)
        }
    }

    private func persist(
        _ file: ClientFileIdent, _ core: RealmCore, _ role: Role, on connection: isolated SyncConnection
    ) {
        core.lock.lock()
        defer { core.lock.unlock() }
        do {
            var sync = core.sync
            sync.compatibility = try rules(for: core, on: connection)
            sync.ident = file
            try core.setSync(sync)
            succeeded(at: .identity)
        } catch {
            interrupt(role, error, .identity, on: connection)
        }
    }

    /// The rules by which a copy records and applies changes from now on.
    ///
    /// A server that does not say so makes its copies as stock clients do. A server that has stopped saying so, as in a
    /// cluster whose gateways are of an older version, must not be followed: the copies would come apart for good.
    private func rules(
        for core: RealmCore, on connection: isolated SyncConnection
    ) throws(IntegrationError) -> PeerCompatibility {
        if let compatibility = connection.compatibility { return compatibility }
        guard core.sync.compatibility != .convergent else {
            throw IntegrationError(
                code: .otherSessionError,
                message: "the app's copies are made by the convergent rules, and this server does not say that its are")
        }
        return .stockClients
    }

    private func integrate(
        _ download: Download, _ core: RealmCore, _ role: Role, on connection: isolated SyncConnection
    ) {
        do {
            let rules = try rules(for: core, on: connection)
            switch try BootstrapIntake(core: core).take(download, connection.checker.version) {
            case .steadyState: try integrating(core, role) { try $0.integrate(download, rules) }
            case .whole(let set): try integrating(core, role) { try $0.integrate(download, of: set, rules) }
            case .lastStored(let bootstrap): try integrating(core, role) { try $0.integrate(bootstrap, rules) }
            case .stored: break
            }
        } catch let error as IntegrationError where error.isTheServersFault {
            return integrationFailed(role, error, on: connection)
        } catch {
            return interrupt(role, error, .download, on: connection)
        }
        succeeded(at: .download)
        // Without anything to upload the history is not read again.
        if interrupted.contains(.upload), isUploaded { succeeded(at: .upload) }
        guard role == .main else { return }
        let reached = core.sync.progress.download.serverVersion
        for error in compensations.reach(reached) { report(error, on: connection) }
        reportProgress(of: download)
        checkUploadWaits()
        resetMaybeAcknowledged()
        guard schemaChange == nil else { return finishSchemaChange(on: connection) }
        instancesGone(on: connection)
    }

    /// Integrates something with the session's integrator, and tells the session what came of it.
    func integrating(
        _ core: RealmCore, _ role: Role,
        _ body: (inout DownloadIntegrator) throws -> (progress: SyncProgress, version: ClientVersion)
    ) throws {
        // Taken out of the session while it works, so that the changesets it keeps parsed are not copied.
        var integrator = sessions[role]?.integrator.take() ?? DownloadIntegrator(core: core)
        let (progress, version) = try body(&integrator)
        sessions[role]?.integrator = integrator
        sessions[role]?.machine.integrated(progress, newestVersion: version)
        subscriptionsMoved(of: core, role)
    }

    private func reportProgress(of download: Download) {
        let bytes = download.entries.reduce(0) { $0 + $1.changeset.count }
        guard let batch = download.batch else {
            return waits.downloaded(bytes, left: Int(clamping: download.downloadableBytes ?? 0))
        }
        // Set 0 is the schema.
        if batch.queryVersion > 0 { waits.downloaded(bytes, share: batch.progress) }
    }

    /// What the server sent is wrong, and would be the next time too. The server answers with a client reset.
    private func integrationFailed(_ role: Role, _ error: IntegrationError, on connection: isolated SyncConnection) {
        connection.logger.error("a download could not be integrated", metadata: ["error": "\(error.message)"])
        sessions[role]?.machine.integrationFailed(error.code, error.message)
        guard role == .main else { return }
        report(
            SyncError(.clientInternalError, error.message, wireCode: error.code.rawValue, isFatal: false),
            on: connection)
    }
}
