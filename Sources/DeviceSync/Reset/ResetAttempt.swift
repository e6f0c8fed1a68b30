internal import Foundation

/// One client reset that is under way. Confined to the worker.
final class ResetAttempt {
    let id = UUID().uuidString.lowercased()
    let action: PendingReset.Action
    let mode: ResetMode
    let errorCode: Int
    let errorMessage: String
    let logURL: String
    let identOld: UInt64
    /// Everything up to this version of the realm's own is in the server's state, as the server has said; nil if it has not.
    var integrated: UInt64?
    let detectedAt = Int64(Date().timeIntervalSince1970 * 1000)
    /// The fresh copy, while it is open.
    var fresh: RealmCore?
    /// The record as the first merge of this attempt found it; nil before that.
    var found: PendingReset??
    /// Whether the record still counts a merge that has ended: it could not be put back yet.
    var owesRecord = false
    /// The version that the before block got last.
    var shown: RealmSnapshot?
    /// Whether a broken fresh copy was thrown away already, and none was complete since.
    var hasRetried = false

    init(
        action: PendingReset.Action, mode: ResetMode, errorCode: Int, errorMessage: String, logURL: String,
        identOld: UInt64
    ) {
        self.action = action
        self.mode = mode
        self.errorCode = errorCode
        self.errorMessage = errorMessage
        self.logURL = logURL
        self.identOld = identOld
    }

    /// Puts the record back as the first merge found it, if a merge that could not be stored left it otherwise: the end of the
    /// process would count as its death in a merge. With the write lock held.
    func restoreRecord(of core: RealmCore) {
        guard owesRecord, let found else { return }
        owesRecord = (try? core.setSync(core.sync, pendingReset: found.map { .set($0) } ?? .clear)) == nil
    }
}
