import RealmState
import Storage
import SyncModel
import Views

/// The changes to a realm since the last commit, by messages that are through, beside its state.
struct UnsavedRealm {
    /// The version that the last commit left.
    var start: ServerVersion
    var isRecordChanged = false
    var clientFiles: Set<FileIdent> = []
    var reciprocals: [ClientFileKey: [ServerVersion: [UInt8]]] = [:]
    var reciprocalTrims: [ClientFileKey: ServerVersion] = [:]
    /// Client files whose uploads were dealt with.
    var acknowledged: [FileIdent] = []
    /// Gateways are told its latest version although nothing has changed.
    var isToldAgain = false
    var isListed = false
    var indexedBefore: RealmDraft.IndexedValues = [:]
    var imageRoom: ImageRoom
    /// The changes of documents, for those who follow the app.
    var changes: [PlacedChange] = []
}
