package import SyncModel

/// The context of every request of a gateway. The answer goes to the request's `reply-to` with its `correlation-id`.
package struct RequestContext: Codable, Sendable, Equatable {
    package var realm: RealmName
    package var session: SessionReference
    /// Milliseconds of Unix time by the gateway's clock: to be compared only with other requests of the same gateway.
    package var sentAt: UInt64
    /// Milliseconds that the gateway waits for the answer; after that the owner drops the request.
    package var patience: UInt64
    /// The rights of the session. Nil from a gateway of a version without rules: the owner refuses the request.
    package var rights: SessionRights?

    package init(
        realm: RealmName, session: SessionReference, sentAt: UInt64, patience: UInt64, rights: SessionRights?
    ) {
        self.realm = realm
        self.session = session
        self.sentAt = sentAt
        self.patience = patience
        self.rights = rights
    }
}

/// A client's BIND. Answered by `bound` or `refused`.
package struct BindRequest: CodableMessage, Equatable {
    package static let type = "bind"
    package var messageVersion: Int64 { context.realm.isFlexible ? MessageVersion.flexible : 1 }
    package var context: RequestContext
    package var user: String
    /// The gateway's connection on which the session lives: tells a fresh copy's session from another device's.
    package var connection: String
    package var needsClientFile: Bool
    package var sessionReason: Int
    package var protocolVersion: Int
    package var userAgent: String
    /// The schema version of the client's configuration, in a flexible realm; nil from a client that cannot name one.
    package var schemaVersion: UInt64?
    /// The client file that this one takes the place of, since its schema version is another one.
    package var replaces: FileIdent?

    package init(
        context: RequestContext, user: String, connection: String, needsClientFile: Bool, sessionReason: Int,
        protocolVersion: Int, userAgent: String, schemaVersion: UInt64? = nil, replaces: FileIdent? = nil
    ) {
        self.context = context
        self.user = user
        self.connection = connection
        self.needsClientFile = needsClientFile
        self.sessionReason = sessionReason
        self.protocolVersion = protocolVersion
        self.userAgent = userAgent
        self.schemaVersion = schemaVersion
        self.replaces = replaces
    }
}

/// A client's IDENT. Answered by `identified`, `refused` or `confirm`.
package struct IdentifyRequest: CodableMessage, Equatable {
    package static let type = "identify"
    package var messageVersion: Int64 { context.realm.isFlexible ? MessageVersion.flexible : 1 }
    package var context: RequestContext
    package var user: String
    package var clientFile: ClientFileIdent
    package var download: DownloadCursor
    package var latest: SaltedServerVersion
    /// The number of the owner's question that this request answers with yes; 0 if it answers none. Nil from a gateway of a
    /// version that cannot be asked.
    package var confirms: UInt64?
    /// The subscription set in force, in a flexible realm.
    package var view: ViewDefinition?
    /// The same as in `BindRequest`.
    package var schemaVersion: UInt64?
    /// The partition of a client that came from partition sync, as a realm's name has it, if the client's user may
    /// write to it.
    package var migratedPartition: String?

    package init(
        context: RequestContext, user: String, clientFile: ClientFileIdent, download: DownloadCursor,
        latest: SaltedServerVersion,
        confirms: UInt64? = 0, view: ViewDefinition? = nil, schemaVersion: UInt64? = nil,
        migratedPartition: String? = nil
    ) {
        self.context = context
        self.user = user
        self.clientFile = clientFile
        self.download = download
        self.latest = latest
        self.confirms = confirms
        self.view = view
        self.schemaVersion = schemaVersion
        self.migratedPartition = migratedPartition
    }
}

/// A page of history for a session that is behind, or the proof that nothing is missing (MARK). Answered by `page`.
package struct PageRequest: CodableMessage, Equatable {
    package static let type = "page"
    package var messageVersion: Int64 { context.realm.isFlexible ? MessageVersion.flexible : 1 }
    package var context: RequestContext
    package var clientFile: FileIdent
    package var generation: UInt64
    package var after: DownloadCursor
    package var maxBytes: Int
    /// The client asked to be told when it has everything (MARK); part of what a reset's outcome is inferred from.
    package var isMark: Bool
    /// The request for a page of another subscription set's data, in a flexible realm.
    package var bootstrap: BootstrapRequest?
    /// The schema that the gateway has of a flexible realm (`ViewSchema.stamp`), 0 for none; nil if the gateway wants
    /// none.
    package var schema: UInt64?

    package init(
        context: RequestContext, clientFile: FileIdent, generation: UInt64, after: DownloadCursor, maxBytes: Int,
        isMark: Bool, bootstrap: BootstrapRequest? = nil
    ) {
        self.context = context
        self.clientFile = clientFile
        self.generation = generation
        self.after = after
        self.maxBytes = maxBytes
        self.isMark = isMark
        self.bootstrap = bootstrap
    }
}

/// A session has ended (UNBIND or a lost connection). Not answered; it is evidence for inferring reset outcomes.
package struct UnbindNotice: CodableMessage, Equatable {
    package static let type = "unbind"
    package var messageVersion: Int64 { realm.isFlexible ? MessageVersion.flexible : 1 }
    package var realm: RealmName
    package var session: SessionReference
    package var user: String
    package var connection: String
    /// Nil if the session ended before IDENT.
    package var clientFile: FileIdent?
    /// True for a client's UNBIND, false for a lost connection.
    package var isOrderly: Bool
    /// An error had ended the session before: that the client leaves is no decision of its own.
    package var wasRefused: Bool

    package init(
        realm: RealmName, session: SessionReference, user: String, connection: String, clientFile: FileIdent?,
        isOrderly: Bool, wasRefused: Bool
    ) {
        self.realm = realm
        self.session = session
        self.user = user
        self.connection = connection
        self.clientFile = clientFile
        self.isOrderly = isOrderly
        self.wasRefused = wasRefused
    }
}

/// Published by a worker to a slice queue that it starts to consume: the first delivery tells it that it is active.
package struct ClaimMessage: CodableMessage, Equatable {
    package static let type = "claim"
    package var worker: String
    package init(worker: String) { self.worker = worker }
}

/// The coordinator's clock: drives expiry, inference and the repetition of generations.
package struct TickMessage: CodableMessage, Equatable {
    package static let type = "tick"
    /// Milliseconds of Unix time.
    package var at: UInt64
    package init(at: UInt64) { self.at = at }
}
