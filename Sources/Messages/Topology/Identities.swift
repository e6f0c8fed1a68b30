/// A session at a gateway, as answers and notices name it. `number` is unique in the gateway's life.
package struct SessionReference: Hashable, Sendable, Codable {
    package var gateway: String
    package var number: UInt64

    package init(gateway: String, number: UInt64) {
        self.gateway = gateway
        self.number = number
    }
}

/// A client file ident with the salt that binds it to one file.
package struct ClientFile: Hashable, Sendable, Codable {
    package var ident: UInt64
    package var salt: UInt64

    package init(ident: UInt64, salt: UInt64) {
        self.ident = ident
        self.salt = salt
    }
}

/// A server version with the salt that tells it from the same number in a diverged history.
package struct SaltedVersion: Hashable, Sendable, Codable {
    package var version: UInt64
    package var salt: UInt64

    package init(version: UInt64, salt: UInt64) {
        self.version = version
        self.salt = salt
    }
}

/// The upload cursor of a client file: the last client version integrated and the server version that the client had
/// seen then (docs/protocol.md, "Progress").
package struct UploadCursor: Hashable, Sendable, Codable {
    package var clientVersion: UInt64
    package var serverVersion: UInt64

    package init(clientVersion: UInt64 = 0, serverVersion: UInt64 = 0) {
        self.clientVersion = clientVersion
        self.serverVersion = serverVersion
    }
}
