import Logging
import Messages
import Operations
import Storage
import SyncModel

/// The reset of one client file that its owner finds necessary: marks the file, accounts for the reset, and makes the refusal that the
/// client's session is told.
struct ClientFileReset: SlicePart {
    let work: SliceWork

    /// Has a client file reset, and accounts for that.
    ///
    /// - Parameters:
    ///   - session: in which the client is told.
    ///   - integrated: up to which client version the realm's state has what the client has written, if that is certain.
    ///   - mustDiscard: as in `ClientFileRecord`.
    ///   - isNewAttempt: the client file has just presented itself. What else a session sends may have been on its way when it
    ///     was refused, and says nothing of a reset that has begun.
    ///   - opening: the schema version that the client names with its IDENT.
    /// - Returns: what the session is to be told, by throwing it; that the client has to wait where resets are held.
    func require(
        of file: ClientFileRecord, code: ErrorCode, _ message: String, app: AppRecord, in context: RealmContext,
        session: SessionReference, integrated: ClientVersion?, mustDiscard: Bool = false, isNewAttempt: Bool = false,
        opening: UInt64? = nil
    ) async throws -> Refusal {
        let mustDiscard = mustDiscard || file.mustDiscard
        if try await !isAskedFor(file, in: context) {
            if let hold = try await Resets(work: work).hold(file.key, of: context.name.app) { return .held(hold) }
            metrics.unaskedReset(app: context.name.app)
        }
        let restore = try await work.restore()
        let campaign = try mark(file, in: context, reason: message, mustDiscard: mustDiscard, after: restore)
        logger.debug(
            "client file must reset",
            metadata: .about(
                context.name, session: session, clientFile: file.ident, campaign: campaign, ["reason": "\(message)"]))
        try await inference.overtake(file, of: context.name, by: campaign)
        try await inference.observe(
            .refused(connection: context.sessions.connection(of: session) ?? file.connection), of: file.ident,
            campaign: campaign, opensOnly: !isNewAttempt, in: context)
        var refusal = Refusal.reset(
            code: code, message, app: app, clientFile: file.ident, campaign: campaign, integrated: integrated,
            mustDiscard: mustDiscard)
        if let restore, campaign == restore.campaign(ofApp: app.id) { refusal.lostAfter = file.upload.clientVersion }
        refusal.previousSchemaVersion = try work.version(ofCopy: file, openedWith: opening, of: app, in: context)
        return refusal
    }

    /// Makes the refusal of a client that does not have the client file that it names, for a reset that no campaign accounts for.
    func refusal(
        of ident: FileIdent, code: ErrorCode, _ message: String, app: AppRecord, in context: RealmContext
    ) async throws -> Refusal {
        if let hold = try await Resets(work: work).hold(context.key(ident), of: context.name.app) {
            return .held(hold)
        }
        metrics.unaskedReset(app: context.name.app)
        return .reset(code: code, message, app: app, clientFile: ident, campaign: nil)
    }

    /// Returns what the client of a client file that must reset is told.
    func reason(for file: ClientFileRecord) async throws -> String {
        guard file.state == .resetRequired, let campaign = file.campaign else { return ResetReason.termination }
        return try await store.reason(campaign: campaign) ?? ResetReason.unknown
    }

    /// Whether a campaign, or a termination that the file has not heard of, asks for the reset.
    private func isAskedFor(_ file: ClientFileRecord, in context: RealmContext) async throws -> Bool {
        if file.generation != context.record.generation { return true }
        if (file.state == .resetRequired || file.state == .superseded) && file.campaign != nil { return true }
        return try await work.restore()?.isNews(to: file) == true
    }

    /// Marks a client file, and reports it to its app's account if no campaign asked for the reset.
    ///
    /// - Parameter restore: whose campaign accounts for the clients that it has left ahead.
    /// - Returns: the campaign.
    private func mark(
        _ file: ClientFileRecord, in context: RealmContext, reason: String, mustDiscard: Bool,
        after restore: RestoreRecord?
    ) throws -> String {
        if mustDiscard, !file.mustDiscard { work.change(context).update(file.ident) { $0.mustDiscard = true } }
        if file.state == .resetRequired || file.state == .superseded, let campaign = file.campaign { return campaign }
        let account = ResetAccount(work: work)
        var campaign = account.today(context)
        var reason = reason
        var kind = ResetAccount.kind
        if let restore, restore.isNews(to: file) {
            campaign = restore.campaign(ofApp: context.name.app)
            reason = ResetReason.restored
            kind = ResetMessage.type
            Resets(work: work).keep(reason: reason, of: campaign)
        }
        work.change(context).update(file.ident) {
            $0.state = .resetRequired
            $0.campaign = campaign
        }
        try account.add(file, of: context, to: campaign, kind: kind, reason: reason)
        return campaign
    }
}
