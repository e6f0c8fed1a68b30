internal import GRDB
internal import RealmState
import SyncModel

extension RealmFile {
    /// Puts a state on the newest version of the file, so that it need not hold what has changed since the version that it stands on.
    /// - Returns: nil if the file has another version by now.
    func settled(_ state: RealmState, _ version: ClientVersion) throws -> RealmState? {
        guard let base = state.base as? FileVersion, let reader = try readers.begin(at: version) else { return nil }
        return state.standing(on: FileVersion(self, reader, after: base, with: state))
    }

    /// Moves what is in the write-ahead log into the database, as far as no version needs the database as it is.
    /// - Returns: whether that is all of it.
    func checkpoint() throws -> Bool {
        try database.writeWithoutTransaction { database in
            let result = try database.checkpoint(.passive)
            return result.walFrameCount == result.checkpointedFrameCount
        }
    }
}
