internal import Foundation
internal import Logging
import SyncModel
internal import SyncProtocol

/// What a realm's session needs this device's storage for, in the words for the app when it fails.
enum StorageWork: String {
    case identity = "the file's identity cannot be kept"
    case download = "what was downloaded cannot be stored"
    case upload = "the local history cannot be read"
    case startOver = "a client reset could not be begun"
    case freshCopy = "the fresh copy of a client reset cannot be opened"
    case merge = "the merge of a client reset cannot be stored"
}

/// What this device could not do: a full disk, a file that is locked, a failing drive. It is no matter of the server's,
/// and nothing is given up for it: the session says goodbye, keeps what it has, and starts again later.
extension SyncConnection {
    /// Ends the session that was at work.
    func interrupt(_ ident: SessionIdent, _ error: any Error, _ work: StorageWork) {
        guard let slot = slots[ident] else { return }
        let realm = slot.realm
        let isFresh = slot.role == .fresh
        endSlots(of: realm)
        // Trying again would not help a damaged copy, and what is in it can be downloaded again.
        perform(realm.reset.interrupted(freshIsDamaged: isFresh && Self.isDamage(error)), realm)
        startLater(realm, error, work)
    }

    private static func isDamage(_ error: any Error) -> Bool {
        (error as? Realm.Error)?.code == .invalidDatabase || RealmFile.isDamage(error)
    }

    func startLater(_ realm: SyncedRealm, _ error: any Error, _ work: StorageWork) {
        guard case .after(let delay) = realm.backoff.next(after: .sessionError(.otherSessionError), using: &random)
        else { return }
        logger.error(
            "syncing is interrupted and tried again: see that the disk has room and that nothing else uses the file",
            metadata: [
                "realm": "\(realm.session.path)", "doing": "\(work.rawValue)", "error": "\(error)",
                "retry_in": "\(delay)",
            ])
        let told = SyncError(
            .clientInternalError, "\(work.rawValue): \(error). It is tried again until it works; nothing is lost",
            isFatal: false)
        if realm.interrupted.isEmpty { report(told, realm) }
        realm.connectionFailed(told)
        realm.interrupted.insert(work)
        realm.waitsToStart = true
        realm.retryTimer = schedule(after: delay.seconds) { [session = realm.session] connection, timer in
            guard let realm = connection.realm(of: session) else { return }
            connection.resumeAfterError(realm, timer)
        }
    }

    /// Goes on where `interrupt` or `startLater` left off.
    func startAgain(_ realm: SyncedRealm) {
        guard realm.waitsToStart else { return }
        realm.waitsToStart = false
        guard !realm.isSuspended, !realm.isStopped, realm.mainIdent == nil, realm.freshIdent == nil else { return }
        perform(realm.reset.resumed(), realm)
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
