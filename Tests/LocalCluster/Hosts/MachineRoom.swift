import Foundation

/// The network of hosts that the script Tests/hosts builds of namespaces, seen from within the room that they are in.
package struct MachineRoom: Sendable {
    package let script: String
    package let hosts: [String]
    /// Where the namespaces are named.
    private let folder: String

    /// Builds the hosts `host-1`, `host-2` and so on.
    ///
    /// - Throws: if this process is in no room, and what to start it with; or what this machine lacks.
    package static func build(hosts count: Int, script: String) async throws -> MachineRoom {
        guard let folder = ProcessInfo.processInfo.environment["SLUICE_ROOM"] else {
            throw LocalClusterError("hosts need a room: start this through 'Tests/hosts room', as Tests/fire/run does")
        }
        let room = MachineRoom(script: script, hosts: (1...count).map { "host-\($0)" }, folder: folder)
        try await room.tell("build", "\(count)")
        return room
    }

    /// What a command must begin with to run on a host.
    package func prefix(of host: String) -> [String] { ["/usr/bin/env", "nsenter", "--net=\(folder)/\(host)", "--"] }

    package func unplug(_ host: String) async throws { try await tell("unplug", host) }
    package func plug(_ host: String) async throws { try await tell("plug", host) }

    /// Loses whatever one host sends to another.
    package func cut(from sender: String, to receiver: String) async throws { try await tell("cut", sender, receiver) }
    package func join(from sender: String, to receiver: String) async throws {
        try await tell("join", sender, receiver)
    }

    /// - Parameter kilobits: how many pass in a second; nil: as many as can.
    package func slow(_ host: String, to kilobits: Int?) async throws {
        try await tell("slow", host, "\(kilobits ?? 0)")
    }
    /// - Parameter percent: how many per cent of what the host receives are lost.
    package func lose(at host: String, percent: Int) async throws { try await tell("lossy", host, "\(percent)") }

    /// Why a kind of line cannot be had here; nil if it can.
    package func reasonAgainst(_ kind: String) async -> String? {
        do {
            try await tell("can", kind)
            return nil
        } catch { return "\(error)" }
    }

    /// Puts all cables and lines right.
    package func restore() async throws {
        for host in hosts {
            try await plug(host)
            try await slow(host, to: nil)
            if await reasonAgainst("lossy") == nil { try await lose(at: host, percent: 0) }
            for other in hosts where other != host { try await join(from: host, to: other) }
        }
    }

    private func tell(_ arguments: String...) async throws { try await Program.run(script, arguments, called: "hosts") }
}
