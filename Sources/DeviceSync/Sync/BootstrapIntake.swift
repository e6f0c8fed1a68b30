import SyncModel
internal import SyncProtocol

/// Takes the data of subscription sets off the wire: what came in several batches waits in the realm's file for the last one.
struct BootstrapIntake {
    /// What a DOWNLOAD is to a realm; in partition mode all are steady state.
    enum Step {
        case steadyState
        /// All data of a set in one message.
        case whole(QueryVersion)
        /// A batch, stored until the last one is here.
        case stored
        /// The last batch, stored with those before it.
        case lastStored(PendingBootstrap)
    }

    let core: RealmCore

    /// Stores the batch of a bootstrap that has several.
    /// - Parameter version: of the protocol on the connection.
    func take(_ download: Download, _ version: ProtocolVersion) throws -> Step {
        guard let batch = download.batch else { return .steadyState }
        let sets = core.subscriptions
        let active = sets.activeQuerySet.version
        let state =
            version.hasBatchStates
            ? batch.state : batch.state.resolvedBeforeBatchStates(queryVersion: batch.queryVersion, active: active)
        guard state.isBootstrap else { return .steadyState }
        guard sets.awaitsBootstrap(of: batch.queryVersion) else {
            throw IntegrationError(
                code: .badProgress,
                message: "a bootstrap of subscription set \(batch.queryVersion), which is not pending")
        }
        let isLast = state == .lastInBatch
        let before = try pending().flatMap { $0.version == batch.queryVersion ? $0 : nil }
        if isLast, before == nil { return .whole(batch.queryVersion) }
        let bootstrap = PendingBootstrap(
            version: batch.queryVersion, batches: (before?.batches ?? 0) + 1,
            progress: isLast ? download.progress : nil)
        try core.file.write { try BootstrapRows($0).store(download.entries, of: bootstrap) }
        return isLast ? .lastStored(bootstrap) : .stored
    }

    /// Returns the bootstrap that is stored whole and is to be integrated, if there is one; to be called before BIND. What is stored
    /// of a bootstrap that was cut off is discarded: the server sends it from the start, and objects that have left the view
    /// meanwhile would stay for good.
    func resume() throws -> PendingBootstrap? {
        guard let bootstrap = try pending() else { return nil }
        if bootstrap.progress != nil, core.subscriptions.awaitsBootstrap(of: bootstrap.version), core.sync.ident != nil
        {
            return bootstrap
        }
        try discard()
        return nil
    }

    func discard() throws { try core.file.write { try BootstrapRows($0).discard() } }

    private func pending() throws -> PendingBootstrap? { try core.file.read { try BootstrapRows($0).pending() } }
}
