package import SyncModel

/// An app that was deleted: there is no such app from the moment on at which this is recorded, and its id is never given to
/// another one. What belonged to it goes afterwards, in steps.
package struct AppDeletionRecord: Codable, Sendable, Equatable {
    package var app: String
    /// The name of the admin token that asked for it.
    package var by: String
    /// Milliseconds of Unix time.
    package var at: UInt64
    /// How many slices there are, and how many have nothing of the app any more.
    package var slices: Int
    package var slicesDone: Int
    /// Realms that are gone, and those of which something is left, as far as slices have said.
    package var realms: Int
    package var realmsLeft: Int
    /// When nothing of the app was left anywhere; nil until then.
    package var finishedAt: UInt64?

    package init(
        app: String, by: String, at: UInt64, slices: Int, slicesDone: Int = 0, realms: Int = 0, realmsLeft: Int = 0,
        finishedAt: UInt64? = nil
    ) {
        self.app = app
        self.by = by
        self.at = at
        self.slices = slices
        self.slicesDone = slicesDone
        self.realms = realms
        self.realmsLeft = realmsLeft
        self.finishedAt = finishedAt
    }

    /// Why no app can be made under the id.
    package var refusal: StoreError {
        StoreError(
            .alreadyExists,
            "there was an app \(app), which was deleted: its clients may come back, so the id stays taken; choose another one"
        )
    }
}

/// How far one slice has come with erasing a deleted app.
package struct SliceErasureProgress: Sendable, Equatable {
    package var app: String
    package var slice: SliceNumber
    package var erased: Int
    package var left: Int
    package var isDone: Bool

    package init(app: String, slice: SliceNumber, erased: Int, left: Int, isDone: Bool) {
        self.app = app
        self.slice = slice
        self.erased = erased
        self.left = left
        self.isDone = isDone
    }
}

package protocol AppDeletionStore: Sendable {
    /// Deletes an app: its settings go at once, everything else with `removeRows`. One that is deleted already stays so.
    /// - Throws: `notFound` for an app that there never was.
    func deleteApp(_ deletion: AppDeletionRecord) async throws(StoreError) -> AppDeletionRecord
    func deletion(ofApp app: String) async throws(StoreError) -> AppDeletionRecord?
    /// The latest first.
    func deletions(limit: Int) async throws(StoreError) -> [AppDeletionRecord]
    /// Returns the deletions that are not finished, the oldest first.
    func unfinishedDeletions() async throws(StoreError) -> [AppDeletionRecord]
    /// A slice has reported. Reports may come twice and in any order; what was done stays done.
    func note(_ progress: SliceErasureProgress) async throws(StoreError)
    /// Removes rows of a deleted app: users, logins, keys, rules, schema, campaigns; at most `limit`.
    /// - Returns: how many; fewer than `limit` if none are left.
    func removeRows(ofDeletedApp app: String, limit: Int) async throws(StoreError) -> Int
    func finishDeletion(ofApp app: String, at: UInt64) async throws(StoreError)
}
