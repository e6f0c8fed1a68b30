package import SyncModel

/// The rows that one call is to find in a slice, by key: as much of it as a batch of messages names.
package struct SliceLookup: Sendable {
    package var realms: Set<RealmName>
    /// Apps whose latest generation in the slice is wanted.
    package var appGenerations: Set<String>
    package var clientFiles: Set<ClientFileKey>
    package var resetCases: Set<ClientFileKey>
    /// Users whose outstanding resets in a realm are wanted.
    package var users: Set<RealmUser>
    /// Realms whose bases are wanted.
    package var bases: Set<RealmID>
    package var objects: [RealmID: [ObjectRow]]
    package var history: [HistoryQuery]
    package var digests: [DigestQuery]
    package var reciprocals: [ReciprocalQuery]
    /// Ids of messages that may have had their effect already.
    package var messages: Set<String>
    /// Campaigns whose reason is wanted.
    package var reasons: Set<String>
    /// Apps, and users, of which is wanted what they have and what they have added lately.
    package var appUsage: Set<String>
    package var userUsage: Set<AppUser>

    package init(
        realms: Set<RealmName> = [], appGenerations: Set<String> = [], clientFiles: Set<ClientFileKey> = [],
        resetCases: Set<ClientFileKey> = [], users: Set<RealmUser> = [], bases: Set<RealmID> = [],
        objects: [RealmID: [ObjectRow]] = [:], history: [HistoryQuery] = [], digests: [DigestQuery] = [],
        reciprocals: [ReciprocalQuery] = [], messages: Set<String> = [], reasons: Set<String> = [],
        appUsage: Set<String> = [], userUsage: Set<AppUser> = []
    ) {
        self.realms = realms
        self.appGenerations = appGenerations
        self.clientFiles = clientFiles
        self.resetCases = resetCases
        self.users = users
        self.bases = bases
        self.objects = objects
        self.history = history
        self.digests = digests
        self.reciprocals = reciprocals
        self.messages = messages
        self.reasons = reasons
        self.appUsage = appUsage
        self.userUsage = userUsage
    }
}

/// A user of a realm.
package struct RealmUser: Hashable, Sendable {
    package var realm: RealmID
    package var user: String

    package init(realm: RealmID, user: String) {
        self.realm = realm
        self.user = user
    }
}

/// Versions of one history to be read.
package struct HistoryQuery: Sendable {
    package enum Versions: Sendable {
        /// `after + 1 ... through`, in order.
        case range(after: ServerVersion, through: ServerVersion)
        /// The given versions, which ascend, as far as they are there.
        case these([ServerVersion])
    }

    package var key: HistoryKey
    package var versions: Versions
    /// Reading ends with the version by which so many bytes are reached: each counts its changeset and
    /// `HistoryQuery.overhead`. The first is read however large it is.
    package var maxBytes: Int
    /// Leaves the changesets' bytes out.
    package var omitsChangesets: Bool

    /// The bytes that a history's version, a digest, an object or a reciprocal counts beside its contents.
    package static let overhead = 32

    package init(key: HistoryKey, versions: Versions, maxBytes: Int = .max, omitsChangesets: Bool = false) {
        self.key = key
        self.versions = versions
        self.maxBytes = maxBytes
        self.omitsChangesets = omitsChangesets
    }
}

/// The digests of a history that cover versions after one, in order; as many as `HistoryQuery.maxBytes` says of versions.
package struct DigestQuery: Sendable {
    package var key: HistoryKey
    package var after: ServerVersion
    package var maxBytes: Int

    package init(key: HistoryKey, after: ServerVersion, maxBytes: Int) {
        self.key = key
        self.after = after
        self.maxBytes = maxBytes
    }
}

/// Reciprocals of one client file.
package struct ReciprocalQuery: Sendable {
    package enum Versions: Sendable {
        /// The reciprocals of all later versions; nothing at all if they are more than `maxBytes`.
        case after(ServerVersion, maxBytes: Int)
        case these([ServerVersion])
    }

    package var owner: ClientFileKey
    package var versions: Versions

    package init(owner: ClientFileKey, versions: Versions) {
        self.owner = owner
        self.versions = versions
    }
}

/// The findings of a lookup. What was named and does not exist is missing here.
package struct SliceFindings: Sendable {
    /// The resets in a realm that concern a user; the most recent `limit` of each.
    package struct UserResets: Sendable, Equatable {
        /// Reset cases of which something is still expected, the highest ident first.
        package var openCases: [ResetCaseRecord] = []
        /// Client files that await their reset, the most recently seen first: those that must reset, and live ones of an earlier
        /// generation than the latest that a campaign began for their app. The latter are not marked yet.
        package var waiting: [ClientFileRecord] = []

        package static let limit = 16

        package init() {}
    }

    package var realms: [RealmName: RealmRecord] = [:]
    package var appGenerations: [String: AppGenerationRecord] = [:]
    package var clientFiles: [ClientFileKey: ClientFileRecord] = [:]
    package var resetCases: [ClientFileKey: ResetCaseRecord] = [:]
    /// The resets of every user that the lookup names.
    package var users: [RealmUser: UserResets] = [:]
    /// The bases in the order of their versions, of whatever generation, complete or not.
    package var bases: [RealmID: [BaseRecord]] = [:]
    package var objects: [RealmID: [ObjectRow: [UInt8]]] = [:]
    /// The versions that each of the lookup's queries has found, in the order of the queries.
    package var history: [[HistoryRecord]] = []
    package var digests: [[HistoryDigest]] = []
    /// Nil for a query whose answer would have been too large.
    package var reciprocals: [[ServerVersion: [UInt8]]?] = []
    /// The ids of those messages that were seen.
    package var messages: Set<String> = []
    /// The reasons of campaigns, by campaign, where one was given.
    package var reasons: [String: String] = [:]
    /// The usage of every app that the lookup names.
    package var appUsage: [String: AppUsage] = [:]
    package var userUsage: [AppUser: UserUsage] = [:]

    package init() {}
}
