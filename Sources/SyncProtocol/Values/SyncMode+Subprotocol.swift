package import SyncModel

extension SyncMode {
    /// The beginning of the WebSocket subprotocol: on the wire only this tells the modes apart.
    package var subprotocolPrefix: String {
        switch self {
        case .partition: "com.mongodb.realm-sync#"
        case .flexible: "com.mongodb.realm-query-sync#"
        }
    }
}
