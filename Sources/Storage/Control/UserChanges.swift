/// Tells which users of an app have changed.
package protocol UserChangeStore: Sendable {
    /// The users that have changed since a version of the app's users, removed ones among them; nil if that cannot be told, and
    /// any may have.
    func userChanges(app: String, after version: UInt64) async throws(StoreError) -> Set<String>?
}
