/// How an app's realms are synced: whole partitions, or the objects that match the client's subscriptions.
package enum SyncMode: String, CaseIterable, Codable, Sendable {
    case partition
    case flexible
}
