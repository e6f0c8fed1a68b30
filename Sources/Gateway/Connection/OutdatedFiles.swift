import SyncModel

/// The client files of a connection whose sessions have ended after their clients were told of another schema version: a client
/// whose copy is of another one uploads what it has, ends its session, and begins anew on the same connection.
struct OutdatedFiles {
    private static let most = 16
    private var files: [(file: FileIdent, schemaVersion: UInt64)] = []

    mutating func note(_ session: GatewaySession) {
        guard session.isOutdated, let file = session.clientFile?.ident, let version = session.context.schemaVersion
        else { return }
        if files.count >= Self.most { files.removeFirst() }
        files.append((file, version))
    }

    /// The client file in whose place a client asks for another one.
    mutating func take(for schemaVersion: UInt64?) -> FileIdent? {
        guard let index = files.firstIndex(where: { $0.schemaVersion == schemaVersion }) else { return nil }
        return files.remove(at: index).file
    }
}
