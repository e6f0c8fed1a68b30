internal import Dispatch
internal import Foundation

/// What comes between the end of a file whose schema version is another one than the app's and its beginning anew.
enum SchemaChange {
    /// Waits until the session that has uploaded the rest, and whoever else has the file open, have let go of it.
    /// - Throws: `Realm.Error` after ten seconds; `CancellationError`.
    static func waitUntilClosed(_ configuration: Realm.Configuration) async throws {
        guard case .file(let url) = try configuration.location() else { return }
        let files = RealmFileSet(main: url)
        guard await files.suspendUntilClosed(.now() + PendingFileAction.patience.seconds) else {
            try Task.checkCancellation()
            throw Realm.Error(
                .alreadyOpen,
                "the file has to begin anew with schema version \(configuration.schemaVersion), and something still holds it",
                fileURL: url)
        }
    }
}

extension RealmFileSet {
    /// - Returns: whether this process has none of the files open any more; false at the deadline, or if the task is cancelled.
    func suspendUntilClosed(_ deadline: DispatchTime) async -> Bool {
        let (events, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        let watch = OpenFiles.watch(databases) { continuation.yield(true) }
        defer { OpenFiles.cancelWatch(watch) }
        DispatchQueue.global().asyncAfter(deadline: deadline) { continuation.yield(false) }
        // Also ends when the task is cancelled.
        for await isClosed in events { return isClosed }
        return false
    }
}
