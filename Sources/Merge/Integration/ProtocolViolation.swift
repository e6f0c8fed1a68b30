/// A message that contradicts what went before it in the life of the client file. The session ends with this error.
package struct ProtocolViolation: Error, Hashable, Sendable, CustomStringConvertible {
    /// Error codes of the sync protocol (spec: sync-protocol.md, 6.3 and 6.4).
    package enum Code: Int, Hashable, Sendable {
        case badServerVersion = 209
        case badClientVersion = 210
        case badOriginFileIdent = 216
        case badProgress = 233
    }

    package var code: Code
    /// What was expected and what came.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(message) (\(code.rawValue))" }
}

/// A point in both histories: a client version, and the last server version that the client had integrated then.
package struct UploadCursor: Hashable, Sendable, CustomStringConvertible {
    package var clientVersion: UInt64
    package var serverVersion: UInt64

    package init(clientVersion: UInt64, serverVersion: UInt64) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
    }

    package var description: String { "client version \(clientVersion) at server version \(serverVersion)" }

    /// A client that has no version yet cannot have integrated anything.
    var isConsistent: Bool { clientVersion != 0 || serverVersion == 0 }

    /// Going forward in one history never goes back in the other.
    func isConsistent(with other: UploadCursor) -> Bool {
        if clientVersion < other.clientVersion { return serverVersion <= other.serverVersion }
        if clientVersion > other.clientVersion { return serverVersion >= other.serverVersion }
        return serverVersion == other.serverVersion
    }
}
