import SyncModel
import Synchronization

/// All connections of a gateway, and which of them holds which client realm.
final class ConnectionRegistry: Sendable {
    private struct FileKey: Hashable {
        var realm: RealmName
        var clientFile: FileIdent
    }

    private struct State {
        var connections: [ObjectIdentifier: ClientConnection] = [:]
        var holders: [FileKey: ObjectIdentifier] = [:]
        var isStopping = false
    }

    private let state = Mutex(State())
    private let metrics: GatewayMetrics

    init(metrics: GatewayMetrics) { self.metrics = metrics }

    /// False if the gateway is shutting down.
    func add(_ connection: ClientConnection) -> Bool {
        let count: Int? = state.withLock { state in
            guard !state.isStopping else { return nil }
            state.connections[ObjectIdentifier(connection)] = connection
            return state.connections.count
        }
        guard let count else { return false }
        metrics.connections(count)
        return true
    }

    /// Removes the connection. To be called when its sessions have ended, and with them what they held.
    func remove(_ connection: ClientConnection) {
        let count = state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = nil
            return state.connections.count
        }
        metrics.connections(count)
    }

    /// `connection` has identified itself as the client realm: an older connection with the same one is a zombie.
    func claim(_ clientFile: FileIdent, realm: RealmName, by connection: ClientConnection) {
        let id = ObjectIdentifier(connection)
        let older: ClientConnection? = state.withLock { state in
            guard state.connections[id] != nil else { return nil }
            let holder = state.holders.updateValue(id, forKey: FileKey(realm: realm, clientFile: clientFile))
            return holder == id ? nil : holder.flatMap { state.connections[$0] }
        }
        older?.post(.hangUp)
    }

    func release(_ clientFile: FileIdent, realm: RealmName, by connection: ClientConnection) {
        let key = FileKey(realm: realm, clientFile: clientFile)
        state.withLock { state in
            if state.holders[key] == ObjectIdentifier(connection) { state.holders[key] = nil }
        }
    }

    var all: [ClientConnection] { state.withLock { Array($0.connections.values) } }
    var count: Int { state.withLock { $0.connections.count } }
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Closes the sockets of one login.
    func closeLogin(_ sid: String, code: UInt16, reason: String) {
        for connection in all where connection.upgrade.claims?.sid == sid {
            connection.post(.close(code: code, reason: reason))
        }
    }

    /// Lets no more in, and tells everybody to come back later.
    func stop() {
        let connections = state.withLock { state in
            state.isStopping = true
            return Array(state.connections.values)
        }
        for connection in connections { connection.post(.shutdown) }
    }

    func tick(sessions: Int) {
        metrics.sessions(sessions)
        for connection in all { connection.post(.tick) }
    }
}
