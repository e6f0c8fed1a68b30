package import Changesets
package import SyncModel

extension IncomingChangeset {
    /// A changeset on its way up, parsed already.
    package init(_ entry: UploadedChangeset, parsed changeset: Changeset, from clientFile: FileIdent) {
        self.init(
            version: entry.clientVersion.rawValue, lastIntegratedLocalVersion: entry.serverVersion.rawValue,
            originTimestamp: entry.timestamp.rawValue, originFileIdent: clientFile.rawValue, changeset: changeset)
    }

    /// A changeset on its way down: an entry of the history whose client version says what of the receiver's own it is based
    /// on.
    package init(_ entry: HistoryEntry) throws(ChangesetError) {
        self.init(
            version: entry.serverVersion.rawValue, lastIntegratedLocalVersion: entry.clientVersion.rawValue,
            originTimestamp: entry.timestamp.rawValue, originFileIdent: entry.originFile.rawValue,
            changeset: try Changeset(parsing: entry.changeset))
    }
}
