package struct BoundAnswer: Message, Equatable {
    package static let type = "bound"
    package var generation: UInt64
    package var slice: SliceNumber
    /// Present if the client asked for an ident.
    package var clientFile: ClientFile?

    package init(generation: UInt64, slice: SliceNumber, clientFile: ClientFile?) {
        self.generation = generation
        self.slice = slice
        self.clientFile = clientFile
    }
}

package struct IdentifiedAnswer: Message, Equatable {
    package static let type = "identified"
    package var generation: UInt64
    package var upload: UploadCursor
    package var lockedServerVersion: UInt64
    package var latest: SaltedVersion

    package init(generation: UInt64, upload: UploadCursor, lockedServerVersion: UInt64, latest: SaltedVersion) {
        self.generation = generation
        self.upload = upload
        self.lockedServerVersion = lockedServerVersion
        self.latest = latest
    }
}

/// Why a request or an upload was refused, as the client is to be told. Also sent unasked for a refused upload.
package struct RefusedAnswer: Message, Equatable {
    package static let type = "refused"

    package struct Backoff: Codable, Sendable, Equatable {
        package var intervalSeconds: Int
        package var maxDelaySeconds: Int
        package var multiplier: Int

        package init(intervalSeconds: Int, maxDelaySeconds: Int, multiplier: Int) {
            self.intervalSeconds = intervalSeconds
            self.maxDelaySeconds = maxDelaySeconds
            self.multiplier = multiplier
        }
    }

    package var realm: RealmName
    package var session: SessionReference
    /// A code of the protocol (docs/protocol.md, "Error codes").
    package var code: Int
    /// What the client is to do, such as `ClientReset` (docs/protocol.md, "Actions").
    package var action: String
    package var message: String
    package var tryAgain: Bool
    package var backoff: Backoff?
    /// For a client reset: the client realm and the campaign it is accounted under.
    package var clientFile: UInt64?
    package var campaign: String?

    package init(
        realm: RealmName, session: SessionReference, code: Int, action: String, message: String, tryAgain: Bool,
        backoff: Backoff? = nil, clientFile: UInt64? = nil, campaign: String? = nil
    ) {
        self.realm = realm
        self.session = session
        self.code = code
        self.action = action
        self.message = message
        self.tryAgain = tryAgain
        self.backoff = backoff
        self.clientFile = clientFile
        self.campaign = campaign
    }
}
