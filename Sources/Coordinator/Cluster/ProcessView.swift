import AdminAPI
import Messages
import SyncModel

/// The processes of the cluster, by what their heartbeats have said. Pure.
struct ProcessView: Sendable {
    private struct Key: Hashable {
        var role: ProcessDocument.Role
        var id: String
    }

    /// Processes that are remembered; the one that was silent for longest goes first.
    static let maxProcesses = 2_000
    /// Slices of one worker that are named.
    static let maxSlices = 4_096

    private var heard: [Key: ProcessDocument] = [:]

    mutating func heard(_ message: HeartbeatMessage, at now: UInt64) {
        var process = ProcessDocument(.worker, message.worker, lastHeardAt: now)
        process.take(message.process)
        process.owns = message.owns.sorted().prefix(Self.maxSlices).map(\.self)
        process.standsBy = message.standsBy.sorted().prefix(Self.maxSlices).map(\.self)
        note(process, isStaying: message.isStaying)
    }

    mutating func heard(_ message: GatewayFigures, at now: UInt64) {
        var process = ProcessDocument(.gateway, message.gateway, lastHeardAt: now)
        process.take(message.process)
        process.connections = message.connections
        process.sessions = message.sessions
        note(process, isStaying: message.isStaying)
    }

    mutating func heard(_ message: CoordinatorFigures, at now: UInt64) {
        var process = ProcessDocument(.coordinator, message.coordinator, lastHeardAt: now)
        process.take(message.process)
        process.active = message.isActive
        note(process, isStaying: message.isStaying)
    }

    /// A process that has said goodbye is gone; one that has not and is silent is what somebody looks for.
    private mutating func note(_ process: ProcessDocument, isStaying: Bool) {
        let key = Key(role: process.role, id: process.id)
        guard isStaying else { return heard[key] = nil }
        if heard[key] == nil, heard.count >= Self.maxProcesses,
            let oldest = heard.min(by: { $0.value.lastHeardAt < $1.value.lastHeardAt })
        {
            heard[oldest.key] = nil
        }
        heard[key] = process
    }

    /// Everybody who was heard in the last ten minutes and has not said goodbye, by role and id.
    func list(at now: UInt64) -> [ProcessDocument] {
        heard.values.compactMap { process in
            guard now < process.lastHeardAt || now - process.lastHeardAt < ClusterView.memory else { return nil }
            var process = process
            if !ClusterView.isThere(heardAt: process.lastHeardAt, now: now) { process.state = .silent }
            return process
        }.sorted { ($0.role.rank, $0.id) < ($1.role.rank, $1.id) }
    }
}

extension ProcessDocument {
    fileprivate mutating func take(_ facts: ProcessFacts?) {
        guard let facts else { return }
        version = facts.version
        host = facts.host
        startedAt = facts.startedAt
        operations = facts.operations
        address = facts.address
        notReady = facts.notReady
        state = facts.notReady == nil ? .ready : .notReady
    }
}

extension ProcessDocument.Role {
    fileprivate var rank: Int {
        switch self {
        case .coordinator: 0
        case .worker: 1
        case .gateway: 2
        }
    }
}
