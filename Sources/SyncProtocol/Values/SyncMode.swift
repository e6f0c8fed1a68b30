/// How a realm is synced: whole partitions, or the objects that match the client's subscriptions.
///
/// On the wire only the WebSocket subprotocol's prefix tells them apart.
package enum SyncMode: String, CaseIterable, Codable, Sendable {
    case partition
    case flexible

    package var subprotocolPrefix: String {
        switch self {
        case .partition: "com.mongodb.realm-sync#"
        case .flexible: "com.mongodb.realm-query-sync#"
        }
    }
}
