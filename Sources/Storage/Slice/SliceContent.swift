package import SyncModel

/// The contents of a slice, for its owner and for anybody else who may read it.
package protocol SliceContent: Sendable {
    var slice: SliceNumber { get }

    /// Finds everything that a lookup names. An engine over a network answers in a number of round trips that does not depend on
    /// how much is named.
    ///
    /// - Throws: `corrupt` if any of it cannot be read.
    func read(_ lookup: SliceLookup) async throws(StoreError) -> SliceFindings

    /// Returns the slice's owner; nil if the slice was never owned.
    func ownership() async throws(StoreError) -> SliceOwnership?
    /// The last time that the slice was put back; nil if it never was.
    func restore() async throws(StoreError) -> RestoreRecord?
    /// The latest changes of owner, newest first; `OwnershipChange.kept` are kept.
    func ownershipHistory(limit: Int) async throws(StoreError) -> [OwnershipChange]
    /// The next realms in the order of their numbers.
    func realms(after: RealmID?, limit: Int) async throws(StoreError) -> [RealmRecord]
    /// A realm's next objects in the order of their table and of their key's encoding, at least one if there is one, until
    /// `maxBytes` are reached.
    ///
    /// - Parameter table: only its objects; nil: those of all.
    func objects(
        in realm: RealmID, of table: UInt32?, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])]
    /// The next objects that an index leads to, at least one if there is one, until `maxBytes` are reached.
    func objects(_ query: IndexQuery, maxBytes: Int) async throws(StoreError) -> [IndexedObject]
    /// How many entries of an index are in a query's ranges, as far as they are not more than `limit`; that else.
    func countEntries(_ query: IndexQuery, limit: Int) async throws(StoreError) -> Int
    /// A realm's next entries in indexes, in the order of table, column, value and key.
    func indexEntries(in realm: RealmID, after: IndexEntry?, limit: Int) async throws(StoreError) -> [IndexEntry]
    /// A realm's next client files in the order of their idents: those in one state, or all.
    func clientFiles(
        in realm: RealmID, state: ClientFileRecord.State?, after ident: FileIdent, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord]
    /// How many objects of a table a realm has, as far as they are not more than `limit`; that else.
    func countObjects(in realm: RealmID, of table: UInt32, limit: Int) async throws(StoreError) -> Int
}

// MARK: - One thing at a time

extension SliceContent {
    package func realm(_ name: RealmName) async throws(StoreError) -> RealmRecord? {
        try await read(SliceLookup(realms: [name])).realms[name]
    }

    /// An app's latest generation in this slice.
    package func appGeneration(_ app: String) async throws(StoreError) -> AppGenerationRecord? {
        try await read(SliceLookup(appGenerations: [app])).appGenerations[app]
    }

    package func clientFile(_ key: ClientFileKey) async throws(StoreError) -> ClientFileRecord? {
        try await read(SliceLookup(clientFiles: [key])).clientFiles[key]
    }

    package func resetCase(_ key: ClientFileKey) async throws(StoreError) -> ResetCaseRecord? {
        try await read(SliceLookup(resetCases: [key])).resetCases[key]
    }

    package func resets(of user: RealmUser) async throws(StoreError) -> SliceFindings.UserResets {
        try await read(SliceLookup(users: [user])).users[user] ?? .init()
    }

    package func isSeen(messageID: String) async throws(StoreError) -> Bool {
        !(try await read(SliceLookup(messages: [messageID]))).messages.isEmpty
    }

    /// Why a campaign makes client realms reset; nil if no reason was given.
    package func reason(campaign: String) async throws(StoreError) -> String? {
        try await read(SliceLookup(reasons: [campaign])).reasons[campaign]
    }

    /// The amounts that an app has in the slice.
    package func usage(ofApp app: String) async throws(StoreError) -> AppUsage {
        try await read(SliceLookup(appUsage: [app])).appUsage[app] ?? AppUsage()
    }

    /// The amounts that a user has added to the slice lately; nil for none.
    package func usage(of user: AppUser) async throws(StoreError) -> UserUsage? {
        try await read(SliceLookup(userUsage: [user])).userUsage[user]
    }

    /// A realm's next objects, of whatever table.
    package func objects(
        in realm: RealmID, after: ObjectRow?, maxBytes: Int
    ) async throws(StoreError) -> [(row: ObjectRow, body: [UInt8])] {
        try await objects(in: realm, of: nil, after: after, maxBytes: maxBytes)
    }

    /// Returns those of the objects that exist.
    package func objects(
        in realm: RealmID, at rows: [ObjectRow]
    ) async throws(StoreError) -> [ObjectRow: [UInt8]] {
        guard !rows.isEmpty else { return [:] }
        return try await read(SliceLookup(objects: [realm: rows])).objects[realm] ?? [:]
    }

    /// The versions of `after + 1 ... through` in order, at least one if there is one, until `maxBytes` are reached.
    package func history(
        of key: HistoryKey, after: ServerVersion, through: ServerVersion, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord] {
        guard after < through else { return [] }
        return try await history(
            HistoryQuery(key: key, versions: .range(after: after, through: through), maxBytes: maxBytes))
    }

    /// Returns those of the versions that are there, in order: the first, then others as long as `maxBytes` are not
    /// reached.
    ///
    /// - Parameter versions: ascending.
    package func history(
        of key: HistoryKey, at versions: ArraySlice<ServerVersion>, maxBytes: Int
    ) async throws(StoreError) -> [HistoryRecord] {
        guard !versions.isEmpty else { return [] }
        return try await history(HistoryQuery(key: key, versions: .these(Array(versions)), maxBytes: maxBytes))
    }

    /// A version without its changeset.
    package func historyHeading(of key: HistoryKey, version: ServerVersion) async throws(StoreError) -> HistoryRecord? {
        try await history(HistoryQuery(key: key, versions: .these([version]), omitsChangesets: true)).first
    }

    private func history(_ query: HistoryQuery) async throws(StoreError) -> [HistoryRecord] {
        try await read(SliceLookup(history: [query])).history.first ?? []
    }

    /// The digests that cover versions after `after`, in order, at least one if there is one, until `maxBytes` are reached.
    package func historyDigests(
        of key: HistoryKey, after: ServerVersion, maxBytes: Int
    ) async throws(StoreError) -> [HistoryDigest] {
        let query = DigestQuery(key: key, after: after, maxBytes: maxBytes)
        return try await read(SliceLookup(digests: [query])).digests.first ?? []
    }

    /// The stored reciprocals of the versions after `after`, or nil if they are more than `maxBytes`; one that is present may be
    /// empty.
    package func reciprocals(
        of owner: ClientFileKey, after: ServerVersion, maxBytes: Int
    ) async throws(StoreError) -> [ServerVersion: [UInt8]]? {
        let query = ReciprocalQuery(owner: owner, versions: .after(after, maxBytes: maxBytes))
        return try await read(SliceLookup(reciprocals: [query])).reciprocals.first ?? nil
    }

    /// The stored reciprocals of these versions.
    package func reciprocals(
        of owner: ClientFileKey, at versions: [ServerVersion]
    ) async throws(StoreError) -> [ServerVersion: [UInt8]] {
        guard !versions.isEmpty else { return [:] }
        let query = ReciprocalQuery(owner: owner, versions: .these(versions))
        return try await read(SliceLookup(reciprocals: [query])).reciprocals.first.flatMap(\.self) ?? [:]
    }

    /// All bases of a realm, of whatever generation, complete or not, in the order of their versions.
    package func bases(of realm: RealmID) async throws(StoreError) -> [BaseRecord] {
        try await read(SliceLookup(bases: [realm])).bases[realm] ?? []
    }

    /// The newest complete base of a generation: a client file may begin with it.
    package func newestBase(of realm: RealmID, generation: UInt64) async throws(StoreError) -> BaseRecord? {
        try await bases(of: realm).last { $0.generation == generation && $0.isComplete }
    }
}

// MARK: - One after the other

extension SliceContent {
    /// Visits every realm, or those of an app, in the order of their numbers.
    package func forEachRealm(app: String? = nil, _ body: (RealmRecord) async throws -> Void) async throws {
        var last: RealmID?
        while true {
            let page = try await realms(after: last, limit: 500)
            guard let end = page.last else { return }
            for realm in page where app == nil || realm.name.app == app { try await body(realm) }
            last = end.id
        }
    }

    /// Visits every client file of a realm, of whatever state.
    package func forEachClientFile(in realm: RealmID, _ body: (ClientFileRecord) async throws -> Void) async throws {
        var last: FileIdent = 0
        while true {
            let page = try await clientFiles(in: realm, state: nil, after: last, limit: 500)
            guard let end = page.last else { return }
            for file in page { try await body(file) }
            last = end.ident
        }
    }
}
