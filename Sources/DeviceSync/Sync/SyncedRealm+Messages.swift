internal import Logging
import SyncModel
internal import SyncProtocol

/// What a realm's sessions say to the server, and hear from it.
extension SyncedRealm {
    // MARK: Sending

    func nextMessage(_ role: Role, on connection: isolated SyncConnection) -> ClientMessage? {
        guard settleBootstrap(role, on: connection) else { return nil }
        do {
            return try sessions[role]?.machine.nextMessage { cursor, version in
                let found = try core.uploadScan(after: cursor, upTo: version)
                succeeded(at: .upload)
                return found
            }
        } catch let error as OversizedWrite {
            stopAndReport(error.syncError, on: connection)
            return nil
        } catch {
            interrupt(role, error, .upload, on: connection)
            return nil
        }
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
            // A set whose data is here is complete.
            guard !isFlexible || changeSubscriptions(of: core, role, on: connection, { $0.markReached() }) else {
                return
            }
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
        do {
            try core.updateSync { sync in
                sync.compatibility = try sync.rules(saidBy: connection.compatibility)
                sync.ident = file
            }
            succeeded(at: .identity)
        } catch {
            interrupt(role, error, .identity, on: connection)
        }
    }

    private func integrate(
        _ download: Download, _ core: RealmCore, _ role: Role, on connection: isolated SyncConnection
    ) {
        do {
            let rules = try core.sync.rules(saidBy: connection.compatibility)
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
        _ core: RealmCore, _ role: Role, _ body: (inout DownloadIntegrator) throws -> DownloadIntegrator.Integrated
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
