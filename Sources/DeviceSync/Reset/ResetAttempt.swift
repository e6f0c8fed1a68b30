internal import Foundation
import SyncModel
internal import SyncProtocol

/// What the server says when it demands a client reset.
struct ResetDemand: Sendable, Equatable {
    var action: PendingReset.Action
    var errorCode: Int
    var errorMessage: String
    var logURL = ""
    /// Everything up to this version of the realm's own is in the server's state; nil if the server does not say.
    var integrated: ClientVersion?
    /// What is newer than this version of the realm's own is not in the server's state, though the server had acknowledged it; nil if
    /// nothing was lost.
    var lostAfter: ClientVersion?

    /// - Parameter isOfSession: whether the error is of the realm's own session; if not, of the whole connection.
    init(_ code: ErrorCode, _ body: JSONErrorBody, isOfSession: Bool) {
        action = body.action.effective == .clientReset ? .clientReset : .clientResetNoRecovery
        errorCode = code.rawValue
        errorMessage = body.message
        logURL = body.logURL
        integrated = isOfSession ? body.integratedClientVersion : nil
        lostAfter = isOfSession ? body.lostAfterClientVersion : nil
    }

    /// The reset of a realm whose app has moved to the other sync mode.
    init(_ move: ModeMove.Pending) {
        action = move.action
        errorCode = move.errorCode
        errorMessage = move.message
    }

    /// Whether the realm goes over to the other sync mode.
    var isMove: Bool { action == .migrateToFLX || action == .revertToPBS }
}

/// One attempt at a client reset: what the server demanded, and what the configuration wants done.
struct ResetAttempt: Sendable, Equatable {
    var id = UUID().uuidString.lowercased()
    var action: PendingReset.Action
    var mode: ResetMode
    var errorCode: Int
    var errorMessage: String
    var logURL = ""
    /// The client file ident before the reset.
    var identOld: FileIdent = 0
    /// The realm that the file was of, where the app has moved to the other sync mode since.
    var realmOld: RealmName?
    /// Everything up to this version of the realm's own is in the server's state, as the server has said; nil if it has not.
    var integrated: ClientVersion?
    /// Everything after this version of the realm's own is missing in the server's state, acknowledged or not; nil if the
    /// server has lost nothing.
    var lostAfter: ClientVersion?
}

extension ResetAttempt {
    /// - Parameters:
    ///   - configured: the mode of the configuration; nil if that has none.
    ///   - identOld: the realm's client file ident.
    init(_ demand: ResetDemand, configured: ResetMode?, identOld: FileIdent) {
        let mode = configured ?? .manual
        self.init(
            // No app can bring a file over to the other mode by itself.
            action: demand.action, mode: demand.isMove && mode == .manual ? .recover : mode,
            errorCode: demand.errorCode, errorMessage: demand.errorMessage, logURL: demand.logURL, identOld: identOld,
            integrated: demand.integrated, lostAfter: demand.lostAfter)
    }
}

/// The realm's record of a reset that the server has not acknowledged, as an attempt found it before its first merge.
/// Confined to the queue of the connection.
final class ResetRecord {
    /// Nil before the first merge.
    private var found: PendingReset??
    /// Whether the record still counts a merge that has ended: it could not be put back yet.
    private(set) var isOwed = false

    /// Runs a merge that may change the record. If the device could not store the merge, the record is put back: whatever
    /// this attempt wrote there must not speak against the attempt when it is tried again. With the write lock held.
    func merging<Result>(into core: RealmCore, _ merge: (PendingReset?) throws -> Result) throws -> Result {
        let stored = try found ?? core.file.read { ResetRows($0).pending() }
        found = .some(stored)
        do {
            let result = try merge(stored)
            isOwed = false
            return result
        } catch let failure as ResetFailure {
            isOwed = false
            throw failure
        } catch {
            isOwed = true
            putBack(into: core)
            throw error
        }
    }

    /// Puts back what a full disk kept from being put back earlier: else the end of the process would count as its death in
    /// a merge.
    func restore(into core: RealmCore) {
        guard isOwed else { return }
        core.lock.lock()
        defer { core.lock.unlock() }
        putBack(into: core)
    }

    private func putBack(into core: RealmCore) {
        guard let found else { return }
        isOwed = (try? core.setSync(core.sync, pendingReset: found.map { .set($0) } ?? .clear)) == nil
    }
}
