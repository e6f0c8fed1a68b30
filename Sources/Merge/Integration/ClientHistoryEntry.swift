package import SyncModel

/// An entry in a client's history, as far as the upload scan and the trimming need it.
package struct ClientHistoryEntry: Hashable, Sendable {
    package var version: ClientVersion
    /// Made here, and not integrated from the server.
    package var isLocal: Bool
    /// The bytes of the changeset as it was made; 0 if it changes nothing.
    package var size: Int
    /// The last server version that was integrated when this version was made, including by it.
    package var serverVersion: ServerVersion

    package init(version: ClientVersion, isLocal: Bool, size: Int, serverVersion: ServerVersion) {
        self.version = version
        self.isLocal = isLocal
        self.size = size
        self.serverVersion = serverVersion
    }

    /// Whether the server has to get it.
    package var isUploadable: Bool { isLocal && size > 0 }
}
