package import SyncModel

/// A slice for somebody who is not its owner: an operator's tool beside a running cluster, or where none runs. Reads only;
/// nothing is created, migrated or locked.
package protocol SliceReader: SliceContent {
    /// Runs `body` with the slice as it is now, whatever its owner commits meanwhile. The owner may not be able to reuse what it
    /// deletes before `body` returns, so a snapshot is for one realm, not for a whole slice.
    nonisolated(nonsending) func withSnapshot<Value>(
        _ body: (any SliceReader) async throws -> Value
    ) async throws -> Value

    func clientFileCounts(in realm: RealmID) async throws(StoreError) -> [ClientFileRecord.State: Int]
    /// The client files whose latest upload was dated far ahead (`ClientFileRecord.ahead`), at most so many.
    func clientFilesAhead(limit: Int) async throws(StoreError) -> [ListedClientFile]
    func objectCount(in realm: RealmID) async throws(StoreError) -> Int
    /// How much an erasure of the realm would take away.
    func weight(of realm: RealmID) async throws(StoreError) -> RealmWeight
    /// The first and last version of a history and how many there are; nil if there is none.
    func historySpan(of key: HistoryKey) async throws(StoreError) -> VersionSpan?
    /// The versions for which reciprocals are kept, by client file ident.
    func reciprocalSpans(in realm: RealmID) async throws(StoreError) -> [FileIdent: VersionSpan]
    /// What a check of everything stored finds wrong, at most `limit` findings; empty if the slice is sound.
    func problems(limit: Int) async throws(StoreError) -> [String]
}

package struct VersionSpan: Sendable, Equatable {
    package var first: ServerVersion
    package var last: ServerVersion
    package var count: UInt64

    package init(first: ServerVersion, last: ServerVersion, count: UInt64) {
        self.first = first
        self.last = last
        self.count = count
    }
}
