package import SyncModel

/// A client realm as its slice knows it. Rows are never deleted and idents never reused, so that a client realm of an
/// earlier generation is told to reset whenever it comes back.
package struct ClientFileRecord: Sendable, Equatable {
    package enum State: String, Sendable {
        case live
        /// The client file's next session is answered by the client reset.
        case resetRequired
        /// The client realm has reset and lives on under another ident.
        case superseded
        /// Not seen for the app's maximum offline time.
        case expired
    }

    package var realm: RealmID
    package var file: ClientFileIdent
    package var user: String
    package var generation: UInt64
    package var state: State
    /// The campaign that accounts for the client file's reset.
    package var campaign: String?
    /// Whether the client file's reset may not recover what its client has not synced: the client was not allowed to
    /// write that.
    package var mustDiscard: Bool
    /// The last client version integrated and the server version that the client had seen then, which is also the base of
    /// the client file's reciprocal history.
    package var upload: UploadCursor
    /// The highest download cursor that an upload has confirmed.
    package var lockedServerVersion: ServerVersion
    /// The highest server version that the client has shown or asked a page after.
    package var seenServerVersion: ServerVersion
    /// The version up to which the client has the realm by other means than the history: a base, or another client file's
    /// copy; 0 if it began with the history itself. Nil: it has not begun, and needs nothing that is kept.
    package var historyStart: ServerVersion?
    /// Milliseconds of Unix time.
    package var createdAt: UInt64
    package var lastSeen: UInt64
    /// The gateway's connection of the latest session. What follows is what that session said about the client.
    package var connection: String
    package var protocolVersion: Int
    package var userAgent: String
    /// The ident under which the client realm lives on after its reset, as far as that was seen.
    package var supersededBy: FileIdent?
    /// The ident that the client realm had before its reset, as far as that was seen.
    package var resetOf: FileIdent?
    /// The views that the client of a flexible realm has had, and what compensates its writes (`ClientViews`); else
    /// empty.
    package var views: [UInt8]
    /// The time at which the latest upload says that it was written, if that is far ahead of the owner's clock: in a conflict it wins, until then.
    package var ahead: SyncTimestamp?

    package init(
        realm: RealmID, file: ClientFileIdent, user: String, generation: UInt64, state: State = .live,
        campaign: String? = nil, mustDiscard: Bool = false, upload: UploadCursor = UploadCursor(),
        lockedServerVersion: ServerVersion = 0,
        seenServerVersion: ServerVersion = 0, historyStart: ServerVersion? = nil, createdAt: UInt64, lastSeen: UInt64,
        connection: String, protocolVersion: Int,
        userAgent: String, supersededBy: FileIdent? = nil, resetOf: FileIdent? = nil, views: [UInt8] = [],
        ahead: SyncTimestamp? = nil
    ) {
        self.realm = realm
        self.file = file
        self.user = user
        self.generation = generation
        self.state = state
        self.campaign = campaign
        self.mustDiscard = mustDiscard
        self.upload = upload
        self.lockedServerVersion = lockedServerVersion
        self.seenServerVersion = seenServerVersion
        self.historyStart = historyStart
        self.createdAt = createdAt
        self.lastSeen = lastSeen
        self.connection = connection
        self.protocolVersion = protocolVersion
        self.userAgent = userAgent
        self.supersededBy = supersededBy
        self.resetOf = resetOf
        self.views = views
        self.ahead = ahead
    }

    package var ident: FileIdent { file.ident }
    package var key: ClientFileKey { ClientFileKey(realm: realm, ident: file.ident) }

    /// Whether a client has ever shown that it has the ident. One that nobody has shown was given out in vain, as far as is known: the
    /// session that asked for it ended before the answer reached its client, which has asked for another one since.
    package var isInUse: Bool {
        lastSeen >= createdAt || historyStart != nil || upload.clientVersion > 0 || seenServerVersion > 0
            || resetOf != nil
    }
}

package struct ClientFileKey: Hashable, Sendable {
    package var realm: RealmID
    package var ident: FileIdent

    package init(realm: RealmID, ident: FileIdent) {
        self.realm = realm
        self.ident = ident
    }
}

/// A client file with its realm's name, as reports list it.
package struct ListedClientFile: Sendable, Equatable {
    package var name: RealmName
    package var record: ClientFileRecord

    package init(name: RealmName, record: ClientFileRecord) {
        self.name = name
        self.record = record
    }
}
