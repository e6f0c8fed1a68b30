import Foundation
import LocalCluster
import Synchronization

/// Hosts with everything on several of them; the one with the realm's owner loses its power, and is back only for the end.
final class ThreeHosts: Stage {
    private let hosts: HostCluster
    private let victim = Mutex<String?>(nil)

    init(_ hosts: HostCluster) { self.hosts = hosts }

    var cluster: LocalCluster { hosts.cluster }
    var title: String {
        "Three hosts: a broker node, a worker and a gateway on each; coordinators, PostgreSQL and its standby on two"
    }
    var threat: String { "a host is pulled out" }
    var relief: String { "the other two hosts took over" }

    var wayIn: String? {
        let hasOwnUsers = ProcessInfo.processInfo.environment["SLUICE_ROOM_USERS"] != nil
        return ProcessInfo.processInfo.environment["SLUICE_ROOM_PROCESS"].map {
            "nsenter --target \($0) \(hasOwnUsers ? "--user --preserve-credentials " : "")--net --mount"
        }
    }

    func start() async throws { try await hosts.start() }

    func strike(worker: String) async throws -> String {
        let host = hosts.host(of: worker)
        victim.withLock { $0 = host }
        let databaseRole =
            host == hosts.database.primary
            ? ", and the database's primary: its standby takes over"
            : host == hosts.database.standby ? ", and the database's standby: the primary goes on alone" : ""
        try await hosts.lose(host)
        try await hosts.goOn(without: host)
        return "\(host) loses power and cable, with \(worker), which owns the slice of the realm\(databaseRole)"
    }

    func mend(atTheEnd: Bool) async throws -> String? {
        guard atTheEnd, let host = victim.withLock({ $0.take() }) else { return nil }
        try await hosts.bringBack(host)
        try await cluster.waitUntilReady(workers: hosts.hosts.count)
        return "\(host) is back: its broker node, its database as the synchronous standby, its processes"
    }

    func stop() async { await hosts.stop() }
}
