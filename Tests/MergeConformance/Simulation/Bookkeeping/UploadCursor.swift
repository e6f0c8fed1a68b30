/// A point in both histories of the simulation: a client version, and the last server version that the client had integrated then.
package struct UploadCursor: Hashable, Sendable, CustomStringConvertible {
    package var clientVersion: UInt64
    package var serverVersion: UInt64

    package init(clientVersion: UInt64, serverVersion: UInt64) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
    }

    package var description: String { "client version \(clientVersion) at server version \(serverVersion)" }
}
