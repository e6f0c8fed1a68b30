import RealmState
import Storage
import SyncModel
import Views

/// What the messages that are through have changed of a realm since the last commit, beside its state.
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
    /// What was done to documents, for those who follow the app.
    var changes: [PlacedChange] = []
}
