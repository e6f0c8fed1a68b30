/// A slice's part of a campaign: which client realms of the app it holds. One of `chunks` messages; each is idempotent.
package struct FoundReport: Codable, Sendable, Equatable {
    package struct ClientRealm: Codable, Sendable, Equatable {
        package var partition: String
        package var clientFile: FileIdent
        package var user: String
        /// Milliseconds of Unix time.
        package var lastSeen: UInt64
        /// Why it must reset, if that is not so for the whole campaign.
        package var reason: String?

        package init(
            partition: String, clientFile: FileIdent, user: String, lastSeen: UInt64, reason: String? = nil
        ) {
            self.partition = partition
            self.clientFile = clientFile
            self.user = user
            self.lastSeen = lastSeen
            self.reason = reason
        }
    }

    /// `termination`, `reset`, `erasure` or `account`.
    package var kind: String
    package var campaign: String
    package var app: String
    package var slice: SliceNumber
    package var generation: UInt64
    package var reason: String?
    package var chunk: Int
    package var chunks: Int
    package var clientRealms: [ClientRealm]

    package init(
        kind: String, campaign: String, app: String, slice: SliceNumber, generation: UInt64, reason: String?,
        chunk: Int, chunks: Int, clientRealms: [ClientRealm]
    ) {
        self.kind = kind
        self.campaign = campaign
        self.app = app
        self.slice = slice
        self.generation = generation
        self.reason = reason
        self.chunk = chunk
        self.chunks = chunks
        self.clientRealms = clientRealms
    }
}

/// A gateway has sent the client-reset error to a client realm.
package struct NotifiedReport: Codable, Sendable, Equatable {
    package var campaign: String
    package var realm: RealmName
    package var clientFile: FileIdent
    /// Milliseconds of Unix time.
    package var at: UInt64

    package init(campaign: String, realm: RealmName, clientFile: FileIdent, at: UInt64) {
        self.campaign = campaign
        self.realm = realm
        self.clientFile = clientFile
        self.at = at
    }
}
