package import SyncModel

/// How far a slice has come with erasing a deleted app: to the outcomes queue.
package struct ErasedReport: CodableMessage, Equatable {
    package static let type = "erased"
    package var app: String
    package var slice: SliceNumber
    /// Realms of the app that are gone, and those of which something is left.
    package var erased: Int
    package var left: Int
    /// Nothing of the app is left in the slice.
    package var isDone: Bool

    package init(app: String, slice: SliceNumber, erased: Int, left: Int, isDone: Bool) {
        self.app = app
        self.slice = slice
        self.erased = erased
        self.left = left
        self.isDone = isDone
    }
}
