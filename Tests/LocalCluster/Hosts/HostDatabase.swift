import Foundation
import Synchronization

/// A PostgreSQL server on one host and its synchronous standby on another, and what a database's administrator does to them.
package final class HostDatabase: Sendable {
    private let script: String
    private let folder: String
    private let room: MachineRoom
    private let password = Mutex("")
    private let places: Mutex<(primary: String, standby: String)>

    package init(script: String, folder: String, room: MachineRoom, primary: String, standby: String) {
        self.script = script
        self.folder = folder
        self.room = room
        places = Mutex((primary, standby))
    }

    package var primary: String { places.withLock { $0.primary } }
    package var standby: String { places.withLock { $0.standby } }

    /// The address of the database for a role of it, with both hosts and without the password.
    package func url(user: String) -> String {
        let hosts = [primary, standby].sorted().joined(separator: ",")
        return "postgres://\(user)@\(hosts)/postgres"
    }

    /// The user who owns everything in the database.
    package static let owner = "sluice"
    /// That user's password.
    package var ownerPassword: String { password.withLock { $0 } }

    /// Starts both, and returns when a commit waits for both.
    package func start() async throws {
        let lines = try await run("start", on: primary, "--host", primary)
        guard
            let line = lines.split(separator: "\n").first(where: { $0.hasPrefix("SLUICE_TEST_POSTGRES_URL=") }),
            let password = URLComponents(string: String(line.dropFirst(25)))?.password
        else { throw LocalClusterError("\(script) start printed no address with a password") }
        self.password.withLock { $0 = password }
        try await follow()
    }

    /// SIGQUIT to all processes of the server on a host, as a machine that loses its power ends them.
    package func kill(on host: String) async throws { try await run("stop", on: host, "--kill") }

    /// Makes the standby the primary, whose commits wait for nobody. The old primary must be dead.
    package func promote() async throws {
        try await run("promote", on: standby)
        places.withLock { $0 = ($0.standby, $0.primary) }
        try await setSynchronous(false)
    }

    /// Lets the primary's commits wait for no standby.
    package func goAlone() async throws { try await setSynchronous(false) }

    /// Makes what is on the other host the primary's synchronous standby, from a fresh copy of the primary.
    package func follow() async throws {
        try await setSynchronous(false)
        try await run("stop", on: standby, "--kill")
        try await run("start", on: standby, "--host", standby, "--standby-of", path(of: primary))
        try await setSynchronous(true)
        try await LocalCluster.retrying("the primary on \(primary) has a synchronous standby") {
            let state = try await sql("SELECT sync_state FROM pg_stat_replication")
            guard state.contains("sync"), !state.contains("async") else {
                throw LocalClusterError("pg_stat_replication has: \(state)")
            }
        }
    }

    private func setSynchronous(_ isSynchronous: Bool) async throws {
        try await sql("ALTER SYSTEM SET synchronous_standby_names = '\(isSynchronous ? "*" : "")'")
        try await sql("SELECT pg_reload_conf()")
    }

    @discardableResult
    private func sql(_ statement: String) async throws -> String { try await run("sql", on: primary, statement) }

    private func path(of host: String) -> String { "\(folder)/postgres-\(host)" }

    @discardableResult
    private func run(_ command: String, on host: String, _ arguments: String...) async throws -> String {
        let words = room.prefix(of: host) + [script, command, path(of: host)] + arguments
        return try await Program.run(words[0], Array(words.dropFirst()), called: "postgres")
    }
}
