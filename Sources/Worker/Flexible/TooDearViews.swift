import SyncModel

/// Client files whose views take too much to be followed version by version: they are sent in pages what they have missed, or come to another
/// set without it. Bounded: who is forgotten is found out again.
struct TooDearViews {
    private static let most = 1_000
    private var files: Set<FileIdent> = []

    func contains(_ file: FileIdent) -> Bool { !files.isEmpty && files.contains(file) }

    mutating func insert(_ file: FileIdent) {
        if files.count >= Self.most { files = [] }
        files.insert(file)
    }

    mutating func remove(_ file: FileIdent) { files.remove(file) }
}
