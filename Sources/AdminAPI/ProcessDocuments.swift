package import SyncModel

/// A role of a process, as its heartbeats tell; `sluice up` has three.
package struct ProcessDocument: Codable, Sendable, Equatable {
    package enum Role: String, Codable, Sendable, CaseIterable { case coordinator, worker, gateway }

    package enum State: String, Codable, Sendable {
        case ready
        case notReady = "not_ready"
        /// Not heard lately, though it has not said goodbye.
        case silent
        /// An earlier version's, which does not tell.
        case unknown
    }

    package var role: Role
    package var id: String
    package var state: State
    /// The obstacles that keep the process from being ready, each with its component; absent if it is ready.
    package var notReady: [String]?
    package var version: String?
    /// The name of its machine.
    package var host: String?
    /// Milliseconds of Unix time.
    package var startedAt: UInt64?
    /// Where it answers `/health`, `/ready` and `/metrics`.
    package var operations: String?
    /// Where it serves clients, or the admin API.
    package var address: String?
    /// A worker's slices.
    package var owns: [SliceNumber]?
    package var standsBy: [SliceNumber]?
    /// Whether a coordinator is the one that acts.
    package var active: Bool?
    /// A gateway's sockets, and the sessions on them.
    package var connections: Int?
    package var sessions: Int?
    /// Milliseconds of Unix time, by the coordinator's clock.
    package var lastHeardAt: UInt64

    package init(_ role: Role, _ id: String, lastHeardAt: UInt64) {
        self.role = role
        self.id = id
        state = .unknown
        self.lastHeardAt = lastHeardAt
    }

    /// A description of what the process owns or does, in a few words.
    package var work: String {
        switch role {
        case .coordinator: active == true ? "active" : "stands by"
        case .worker: "\((owns?.count ?? 0).counted("slice")), stands by for \(standsBy?.count ?? 0)"
        case .gateway: "\((sessions ?? 0).counted("session")), \((connections ?? 0).counted("connection"))"
        }
    }
}

package struct ProcessList: Codable, Sendable, Equatable {
    package var processes: [ProcessDocument]

    package init(processes: [ProcessDocument]) { self.processes = processes }

    /// The versions that run, with how many have each, the most frequent first.
    package var versions: [(version: String, count: Int)] {
        Dictionary(grouping: processes.compactMap(\.version), by: \.self).map { ($0.key, $0.value.count) }
            .sorted { ($1.count, $0.version) < ($0.count, $1.version) }
    }
}
