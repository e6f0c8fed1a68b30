import Messages

/// A slice as somebody sees it who is not its owner: an operator's tool beside a running cluster, or where none runs. Reads
/// only; nothing is created, migrated or locked.
package protocol SliceReader: SliceStore {
    /// Until `endSnapshot` everything is read as it is now, whatever the owner commits meanwhile. The owner's log cannot be
    /// emptied so long, so a snapshot is for one realm, not for a whole slice.
    func beginSnapshot() async throws(StoreError)
    func endSnapshot() async throws(StoreError)

    /// Client files of every state, in the order of their idents.
    func clientFiles(
        in realm: RealmID, after ident: UInt64, limit: Int
    ) async throws(StoreError) -> [ClientFileRecord]
    func clientFileCounts(in realm: RealmID) async throws(StoreError) -> [ClientFileRecord.State: Int]
    func objectCount(in realm: RealmID) async throws(StoreError) -> Int
    /// The first and last version of a history and how many there are; nil if there is none.
    func historySpan(of key: HistoryKey) async throws(StoreError) -> VersionSpan?
    /// The versions for which reciprocals are kept, by client file ident.
    func reciprocalSpans(in realm: RealmID) async throws(StoreError) -> [UInt64: VersionSpan]
    /// What SQLite's own check says; empty if the file is sound.
    func integrityProblems(limit: Int) async throws(StoreError) -> [String]
}

package struct VersionSpan: Sendable, Equatable {
    package var first: UInt64
    package var last: UInt64
    package var count: UInt64

    package init(first: UInt64, last: UInt64, count: UInt64) {
        self.first = first
        self.last = last
        self.count = count
    }
}

extension SliceReader {
    /// Runs `body` within one snapshot.
    package func snapshot<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await beginSnapshot()
        do {
            let value = try await body()
            try await endSnapshot()
            return value
        } catch {
            try? await endSnapshot()
            throw error
        }
    }

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
        var last: UInt64 = 0
        while true {
            let page = try await clientFiles(in: realm, after: last, limit: 500)
            guard let end = page.last else { return }
            for file in page { try await body(file) }
            last = end.ident
        }
    }
}
