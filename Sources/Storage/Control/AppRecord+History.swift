import SyncModel

extension AppRecord {
    /// Names the history that places of the app's changes in a slice are of: another one once the slice was put back to an earlier state, whose
    /// versions come again with other changes, and of an app that was deleted and made anew.
    ///
    /// - Parameter restore: the last time that the slice was put back.
    package func history(after restore: RestoreRecord?) -> String {
        ObjectID.hex(FNV1a.hash64("\(createdAt)/\(restore?.id ?? "")".utf8) >> 32, digits: 8)
    }
}
