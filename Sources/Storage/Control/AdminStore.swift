/// The rights of the holder of an admin token. Each has those of the roles before it.
package enum AdminRole: String, Codable, Sendable, CaseIterable, Comparable {
    /// Look at everything that the admin API shows.
    case read
    /// Change apps, terminate sync, look after users.
    case operate
    /// Make and revoke admin tokens, make signing keys, delete apps.
    case own

    package static func < (left: AdminRole, right: AdminRole) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .read: 0
        case .operate: 1
        case .own: 2
        }
    }
}

/// An admin token that was made by command. Of the token itself only a digest is kept.
package struct AdminTokenRecord: Codable, Sendable, Equatable {
    /// How many a cluster may have.
    package static let most = 1000

    /// 1 to 64 lower-case letters, digits, `-` and `_`.
    package var name: String
    /// SHA-256 in hexadecimal.
    package var digest: String
    package var role: AdminRole
    /// Milliseconds of Unix time.
    package var createdAt: UInt64
    /// The name of the token that made it.
    package var createdBy: String

    package init(name: String, digest: String, role: AdminRole, createdAt: UInt64, createdBy: String) {
        self.name = name
        self.digest = digest
        self.role = role
        self.createdAt = createdAt
        self.createdBy = createdBy
    }
}

/// One request that was to change something, by the admin API or through a queue.
package struct AuditEntry: Codable, Sendable, Equatable {
    /// Grows from entry to entry; 0 until it is stored.
    package var number: Int64
    /// Milliseconds of Unix time.
    package var at: UInt64
    /// The name of the token, never the token.
    package var token: String
    package var role: AdminRole
    package var method: String
    package var path: String
    /// The words of the request's body, without anything secret; absent until the request has ended.
    package var details: String?
    /// The answer's HTTP status; absent while the request is under way, and for ever if its coordinator died meanwhile.
    package var status: Int?
    /// The network address that the request came from; nil if it did not come by a connection, or is older than this.
    package var address: String?
    /// True if the request only asked what would be done.
    package var dryRun: Bool?

    package init(
        number: Int64 = 0, at: UInt64, token: String, role: AdminRole, method: String, path: String,
        details: String? = nil, status: Int? = nil, address: String? = nil, dryRun: Bool? = nil
    ) {
        self.number = number
        self.at = at
        self.token = token
        self.role = role
        self.method = method
        self.path = path
        self.details = details
        self.status = status
        self.address = address
        self.dryRun = dryRun
    }
}

/// The store of the tokens that may use the admin API, and of the audit log of its use.
package protocol AdminStore: Sendable {
    /// - Throws: `alreadyExists` if the name is taken, or if there are `AdminTokenRecord.most`.
    func insert(_ token: AdminTokenRecord) async throws(StoreError)
    func adminToken(digest: String) async throws(StoreError) -> AdminTokenRecord?
    /// Returns all admin tokens in the order of their names.
    func adminTokens() async throws(StoreError) -> [AdminTokenRecord]
    /// - Throws: `notFound`.
    func removeAdminToken(_ name: String) async throws(StoreError)
    /// Notes a request before it is carried out, and forgets the oldest ones beyond `most`.
    /// - Returns: the entry's number.
    func beginAudit(_ entry: AuditEntry, keeping most: Int) async throws(StoreError) -> Int64
    /// - Parameter isDryRun: whether the request only asked what would be done.
    func endAudit(_ number: Int64, status: Int, details: String?, isDryRun: Bool) async throws(StoreError)
    /// Newest first.
    /// - Parameter before: only entries with smaller numbers.
    func auditEntries(before: Int64?, limit: Int) async throws(StoreError) -> [AuditEntry]
}
