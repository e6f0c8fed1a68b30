/// How far a client's history has been uploaded: through which of its versions, and the server version that it had
/// integrated there.
package struct UploadCursor: Hashable, Sendable {
    package var clientVersion: UInt64
    package var serverVersion: UInt64

    package init(clientVersion: UInt64, serverVersion: UInt64) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
    }
}
