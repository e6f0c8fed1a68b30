package import SyncModel

package struct BoundAnswer: CodableMessage, Equatable {
    package static let type = "bound"
    package var generation: UInt64
    package var slice: SliceNumber
    /// Present if the client asked for an ident.
    package var clientFile: ClientFileIdent?

    package init(generation: UInt64, slice: SliceNumber, clientFile: ClientFileIdent?) {
        self.generation = generation
        self.slice = slice
        self.clientFile = clientFile
    }
}

package struct IdentifiedAnswer: CodableMessage, Equatable {
    package static let type = "identified"
    package var generation: UInt64
    package var upload: UploadCursor
    package var lockedServerVersion: ServerVersion
    package var latest: SaltedServerVersion
    /// The subscription set of a flexible realm whose data the client must be sent before anything else: set 0 to a
    /// client that begins, and the set in force to a client whose user may do something else than before.
    package var bootstrap: UInt64?
    /// The schema version that the client's copy of a flexible realm was made with, if the client names another one.
    package var previousSchemaVersion: UInt64?

    package init(
        generation: UInt64, upload: UploadCursor, lockedServerVersion: ServerVersion, latest: SaltedServerVersion,
        bootstrap: UInt64? = nil, previousSchemaVersion: UInt64? = nil
    ) {
        self.generation = generation
        self.upload = upload
        self.lockedServerVersion = lockedServerVersion
        self.latest = latest
        self.bootstrap = bootstrap
        self.previousSchemaVersion = previousSchemaVersion
    }
}

/// Asks whether a session still waits for the answer to its `identify`, before that answer costs the client a reset.
///
/// A broker may deliver a request twice, the second time to an owner that does not know the session: by its cursors alone,
/// such a request looks like a client that has lost its memory. The gateway repeats the request with the question's number if
/// its session has had no answer, and says nothing otherwise.
package struct ConfirmAnswer: CodableMessage, Equatable {
    package static let type = "confirm"
    package var question: UInt64

    package init(question: UInt64) { self.question = question }
}

/// Why a request or an upload was refused, as the client is to be told. Also sent unasked for a refused upload.
package struct RefusedAnswer: CodableMessage, Equatable {
    package static let type = "refused"

    package var realm: RealmName
    package var session: SessionReference
    /// A code of the protocol (docs/protocol.md, "Error codes").
    package var code: ErrorCode
    /// The client's next action, such as `ClientReset` (docs/protocol.md, "Actions").
    package var action: ErrorAction
    package var message: String
    package var tryAgain: Bool
    package var backoff: BackoffPolicy?
    /// The client realm that has to reset, and the campaign that it is accounted under; only for a client reset.
    package var clientFile: FileIdent?
    package var campaign: String?
    /// The client version up to which everything that the client has written is in the realm's state, and so in the
    /// fresh copy; only for a client reset. Nil where that is not certain.
    package var integrated: ClientVersion?
    /// The client version after which the realm's state has nothing that the client has written, whatever the client
    /// was told before; only for a client reset. Nil where nothing was lost.
    package var lostAfter: ClientVersion?
    /// The newest version of the rules that the slice has seen; only for a session that was let in under older rules.
    package var rulesVersion: UInt64?
    /// The newest version of the app's users that the slice has seen; only for a session whose user has changed since
    /// it was let in.
    package var usersVersion: UInt64?
    /// The schema version that the client's copy was made with, if the client names another one; only for a client
    /// reset. The fresh copy is to be of that version, too, and the client hears of it first.
    package var previousSchemaVersion: UInt64?

    package init(
        realm: RealmName, session: SessionReference, code: ErrorCode, action: ErrorAction, message: String,
        tryAgain: Bool,
        backoff: BackoffPolicy? = nil, clientFile: FileIdent? = nil, campaign: String? = nil,
        integrated: ClientVersion? = nil, lostAfter: ClientVersion? = nil,
        rulesVersion: UInt64? = nil, usersVersion: UInt64? = nil, previousSchemaVersion: UInt64? = nil
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
        self.integrated = integrated
        self.lostAfter = lostAfter
        self.rulesVersion = rulesVersion
        self.usersVersion = usersVersion
        self.previousSchemaVersion = previousSchemaVersion
    }
}
