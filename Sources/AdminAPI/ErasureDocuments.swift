package import Storage

/// The body that takes a realm away.
package struct EraseRequest: AdminBody, Equatable {
    package static let keys: Set<String> = ["partition", "flexible", "reason", "campaign", "confirm", "dryRun"]
    package static let shownKeys = keys

    /// The partition value: a word, or extended JSON. Absent of the one realm of an app in flexible mode.
    package var partition: String?
    /// The flexible realm, also of an app that has gone back to partitions.
    package var flexible: Bool?
    package var reason: String?
    /// The campaign's id, made up if absent: the same one again changes nothing.
    package var campaign: String?
    /// The partition once more, as `partition` has it; of a flexible realm the app's id.
    package var confirm: String?
    /// Says only what would go.
    package var dryRun: Bool?

    package init(
        partition: String?, flexible: Bool? = nil, reason: String? = nil, campaign: String? = nil,
        confirm: String? = nil, dryRun: Bool? = nil
    ) {
        self.partition = partition
        self.flexible = flexible
        self.reason = reason
        self.campaign = campaign
        self.confirm = confirm
        self.dryRun = dryRun
    }
}

/// The plan of an erasure or a deletion: what it would take away.
package struct ErasurePlan: Codable, Sendable, Equatable {
    package var app: String
    /// The user that would be deleted.
    package var user: String?
    /// The partitions of the realms, if they are few: those of an app are not listed.
    package var partitions: [String]?
    package var realms = 0
    package var clientRealms = 0
    package var objects = 0
    /// Bytes of objects and history.
    package var bytes: UInt64 = 0
    /// Accounts, of an app.
    package var users: Int?

    package init(app: String, user: String? = nil, partitions: [String]? = nil, users: Int? = nil) {
        self.app = app
        self.user = user
        self.partitions = partitions
        self.users = users
    }

    package mutating func add(_ weight: RealmWeight) {
        realms += 1
        clientRealms += weight.clientRealms
        objects += weight.objects
        bytes += weight.bytes
    }
}

/// Apps that were deleted, the latest first.
package struct AppDeletionList: Codable, Sendable, Equatable {
    package var deletions: [AppDeletionRecord]

    package init(deletions: [AppDeletionRecord]) { self.deletions = deletions }
}
