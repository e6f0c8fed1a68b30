package import SyncModel

/// One UPLOAD on its way into a realm's history: what it has to be merged with, what the merge makes of it, and what is to be
/// stored afterwards (docs/merge.md, "Uploads at the server").
///
/// Does no I/O. Its owner reads the history after `position`, in steps of any size, and feeds it what takes part: merging
/// with a stretch of history is the same as merging with its parts in turn. An owner that can tell by `touches()` which
/// versions have something in common with the upload may leave out all others.
package struct UploadIntegration: Sendable {
    package let clientFile: FileIdent
    /// The uploaded changesets, as merging has left them so far.
    package private(set) var changesets: [IncomingChangeset]
    /// The upload has been merged with everything that it has to meet up to this server version.
    package private(set) var position: ServerVersion
    private let head: UploadHead
    private let recorded: ClientFileProgress
    private var reciprocals: [TransformResult.Reciprocal] = []

    /// - Parameters:
    ///   - changesets: the new ones alone, in order, and based on `recorded` or later; none if the upload only reports
    ///     progress.
    ///   - recorded: the client file's progress, as stored.
    package init(
        _ head: UploadHead, of clientFile: FileIdent, changesets: [IncomingChangeset], recorded: ClientFileProgress
    ) {
        self.head = head
        self.clientFile = clientFile
        self.changesets = changesets
        self.recorded = recorded
        position = ServerVersion(changesets.first?.lastIntegratedLocalVersion ?? .max)
    }

    /// Whether an entry of the history takes part: the client has not written it, and it says something. What counts is the
    /// entry as it was made, not what earlier merges have left of it.
    package func meets(author: FileIdent, isEmpty: Bool) -> Bool { author != clientFile && !isEmpty }

    /// The places that an entry has to have in common with the upload, for the merge to make a difference to either of them.
    package func touches() -> Touches { Touches(of: changesets.lazy.map(\.changeset)) }

    /// Merges the upload with the next entries that take part.
    ///
    /// - Parameters:
    ///   - entries: by ascending version, each as earlier merges with this client file have left it.
    ///   - end: nothing else up to this version takes part.
    /// - Returns: how many of the entries the merge has changed.
    @discardableResult
    package mutating func merge<Engine: ChangesetMerging>(
        over entries: [LocalChangeset], through end: ServerVersion, using engine: Engine
    ) throws(Engine.Failure) -> Int {
        position = max(position, end)
        guard !changesets.isEmpty, let last = entries.last else { return 0 }
        let result = try engine.transform(incoming: changesets, over: entries, currentLocalVersion: last.version)
        changesets.replace(with: result.incoming)
        reciprocals += result.modifiedLocal
        return result.modifiedLocal.count
    }

    /// The outcome to store beside the merged changesets, in one transaction with them.
    package var outcome: UploadOutcome {
        let progress = recorded.advanced(by: head)
        let settled = progress.upload.serverVersion
        return UploadOutcome(
            progress: progress, reciprocals: reciprocals.filter { $0.version > settled.rawValue },
            settled: settled > recorded.upload.serverVersion ? settled : nil)
    }
}

/// The changes of an upload in a server's books. Each of its changesets takes one server version besides, even if merging has
/// left nothing of it.
package struct UploadOutcome: Sendable {
    package var progress: ClientFileProgress
    /// The client file's reciprocals to store, empty ones too.
    package var reciprocals: [TransformResult.Reciprocal]
    /// The client file's reciprocals up to this server version are of no more use; nil if that is not news.
    package var settled: ServerVersion?
}
