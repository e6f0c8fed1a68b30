import Merge
import RealmState
import Storage
import SyncModel
import Views

/// The changes of the message in hand to a realm: how that was before, and what waits until the message is through.
struct RealmDraft {
    /// What indexes had of objects before these were first changed; nothing for one that is new.
    typealias IndexedValues = [ObjectSlot: [ColumnID: [UInt8]]]

    var record: RealmRecord
    var isRecordChanged = false
    /// The rows as they were; nil for a client file that the message has made.
    var clientFiles: [FileIdent: ClientFileRecord?] = [:]
    var history: [(record: HistoryRecord, touches: Touches)] = []
    /// The message's uploads in the order in which they were dealt with: one, or one for each of the message's changesets.
    var uploads: [(clientFile: FileIdent, outcome: UploadOutcome, isAcknowledged: Bool)] = []
    var isToldAgain = false
    var indexedBefore: IndexedValues = [:]
    /// The changes of documents, for those who follow the app.
    var changes: [PlacedChange] = []
    /// The bytes of these changes, and of those that have no version yet.
    var changeBytes = 0
}
