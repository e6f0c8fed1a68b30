import Changesets
import Merge
import RealmState
import SyncModel

/// Several clients and one server in memory, driven step by step. Deterministic: the same steps give the same run anywhere.
package struct Simulation: Sendable {
    package private(set) var server: SimulatedServer
    package private(set) var clients: [SimulatedClient] = []
    private let engine: SimulatedEngine

    package init(
        rules: SimulationRules, clients count: Int, setup: [Edit], checksLaws: Bool = true, fault: EngineFault? = nil
    ) throws(SimulationFailure) {
        engine = SimulatedEngine(rules, checksLaws: checksLaws, fault: fault)
        server = SimulatedServer(engine)
        for edit in setup { try server.write([edit]) }
        for _ in 0..<count {
            clients.append(try SimulatedClient(ident: server.allocateFile(), engine: engine))
        }
        try exchangeEverything()
    }

    /// Runs a script to its end, and to a quiet point behind it.
    package static func run(
        _ script: SimulationScript, checksLaws: Bool = true, fault: EngineFault? = nil
    ) -> SimulationFailure? {
        do throws(SimulationFailure) {
            var simulation = try Simulation(
                rules: script.rules, clients: script.clients, setup: script.setup, checksLaws: checksLaws,
                fault: fault)
            for step in script.steps { try simulation.perform(step) }
            try simulation.perform(.quiet)
            return nil
        } catch {
            return error
        }
    }

    package mutating func perform(_ step: SimulationStep) throws(SimulationFailure) {
        if let client = step.client, client > clients.count { return }
        switch step {
        case .clock(0, let by): server.clock = Self.moved(server.clock, by)
        case .clock(let who, let by): clients[who - 1].clock = Self.moved(clients[who - 1].clock, by)
        case .write(0, let edits): try server.write(edits)
        case .write(let who, let edits): clients[who - 1].write(edits)
        case .reload(0): server.state = try server.state.reloaded()
        case .upload(let who, let entries): try upload(who, entries: max(1, entries))
        case .arrive(let who): try arrive(who)
        case .again(let who): try again(who)
        case .download(let who, let bytes): try download(who, maxBytes: bytes)
        case .integrate(let who): try integrate(who)
        case .reconnect(let who): if who > 0 { try clients[who - 1].reconnect() }
        case .reload(let who): try reload(who)
        case .reset(let who, let mode): try reset(who, mode)
        case .terminate: try terminate()
        case .hostile(let kind): try refuse(kind)
        case .quiet:
            try exchangeEverything()
            try compareCopies()
        }
    }

    private static func moved(_ clock: UInt64, _ by: Int64) -> UInt64 {
        by < 0 ? max(1, clock - min(clock, by.magnitude)) : clock &+ by.magnitude
    }

    // MARK: Exchanging

    private mutating func upload(_ who: Int, entries: Int) throws(SimulationFailure) {
        if who > 0 { try clients[who - 1].upload(entries: entries) }
    }

    private mutating func arrive(_ who: Int) throws(SimulationFailure) {
        guard who > 0, !clients[who - 1].session.uploads.isEmpty else { return }
        let upload = clients[who - 1].session.uploads.removeFirst()
        let before = server.latest
        let count = try server.receive(upload, &clients[who - 1].session)
        guard server.latest == before + UInt64(count) else {
            throw SimulationFailure(
                .versionsAreKept, "\(count) changesets made \(server.latest.rawValue - before.rawValue) versions")
        }
    }

    /// A broker may deliver twice what was under way when a worker was lost.
    private mutating func again(_ who: Int) throws(SimulationFailure) {
        guard who > 0, let upload = clients[who - 1].lastUpload else { return }
        let ident = clients[who - 1].ident
        // What has not arrived for the first time yet is not delivered a second time.
        guard let stored = server.files[ident]?.progress,
            upload.head.progress.clientVersion <= stored.upload.clientVersion
        else { return }
        let before = server
        let count = try server.integrate(upload, from: ident)
        guard count == 0, server.latest == before.latest,
            StateDump.digest(of: server.state) == StateDump.digest(of: before.state),
            server.files[ident]?.reciprocals == before.files[ident]?.reciprocals
        else { throw SimulationFailure(.versionsAreKept, "an upload of file \(ident) counted twice") }
    }

    private mutating func download(_ who: Int, maxBytes: Int) throws(SimulationFailure) {
        guard who > 0, let message = try server.download(&clients[who - 1].session, maxBytes: maxBytes) else { return }
        clients[who - 1].session.downloads.append(message)
    }

    private mutating func integrate(_ who: Int) throws(SimulationFailure) {
        guard who > 0, !clients[who - 1].session.downloads.isEmpty else { return }
        let message = clients[who - 1].session.downloads.removeFirst()
        try clients[who - 1].integrate(message)
    }

    /// Exchanges messages until the server has everything and everybody has what the server has.
    private mutating func exchangeEverything() throws(SimulationFailure) {
        for who in clients.indices.map({ $0 + 1 }) where clients[who - 1].isCutOff {
            try reset(who, .recoverOrDiscard)
        }
        for who in clients.indices.map({ $0 + 1 }) {
            while !clients[who - 1].session.uploads.isEmpty { try arrive(who) }
            try upload(who, entries: .max)
            while !clients[who - 1].session.uploads.isEmpty { try arrive(who) }
        }
        for who in clients.indices.map({ $0 + 1 }) {
            while !clients[who - 1].session.downloads.isEmpty { try integrate(who) }
            try download(who, maxBytes: .max)
            while !clients[who - 1].session.downloads.isEmpty { try integrate(who) }
        }
    }

    // MARK: Crashes and resets

    private mutating func reload(_ who: Int) throws(SimulationFailure) {
        guard who > 0 else { return }
        clients[who - 1].state = try clients[who - 1].state.reloaded()
        try clients[who - 1].reconnect()
    }

    private mutating func reset(_ who: Int, _ mode: SimulatedReset) throws(SimulationFailure) {
        guard who > 0 else { return }
        let state = try server.replayedHistory()
        let fresh = FreshCopy(ident: server.allocateFile(), state: state, serverVersion: server.latest)
        let old = clients[who - 1].ident
        if let client = try clients[who - 1].reset(mode, to: fresh) {
            clients[who - 1] = client
        } else {
            server.files[fresh.ident] = nil
            try clients[who - 1].cutOff()
        }
        server.files[old] = nil
    }

    private mutating func terminate() throws(SimulationFailure) {
        try server.restartHistory()
        for index in clients.indices { try clients[index].cutOff() }
    }

    // MARK: Checks

    /// P2: all copies, and one that starts from nothing.
    private func compareCopies() throws(SimulationFailure) {
        let expected = StateDump.canonical(of: server.state)
        for (index, client) in clients.enumerated() {
            guard client.progress.download.serverVersion == server.latest else {
                throw SimulationFailure(
                    .versionsAreKept,
                    "client \(index + 1) is at \(client.progress.download.serverVersion), the server at \(server.latest)"
                )
            }
            guard StateDump.canonical(of: client.state) == expected else {
                throw SimulationFailure(
                    .quiescentConvergence,
                    "client \(index + 1) has \(StateDump.json(of: client.state)), the server has "
                        + StateDump.json(of: server.state))
            }
        }
        let replayed = try server.replayedHistory()
        guard StateDump.canonical(of: replayed) == expected else {
            throw SimulationFailure(
                .quiescentConvergence,
                "a new copy has \(StateDump.json(of: replayed)), the server has \(StateDump.json(of: server.state))")
        }
    }

    /// P11: what cannot be read, merged or applied is refused and leaves no trace.
    private mutating func refuse(_ kind: Int) throws(SimulationFailure) {
        let before = server
        let ident = server.allocateFile()
        let upload = HostileUploads.upload(kind, latest: server.latest)
        let refused: Bool
        do throws(SimulationFailure) {
            _ = try server.integrate(upload, from: ident)
            refused = false
        } catch {
            refused = true
        }
        server.files[ident] = nil
        guard refused, server.latest == before.latest, server.files.count == before.files.count,
            StateDump.canonical(of: server.state) == StateDump.canonical(of: before.state)
        else { throw SimulationFailure(.badClientsHarmNobody, "bad upload \(kind) was taken, or left a trace") }
    }
}
