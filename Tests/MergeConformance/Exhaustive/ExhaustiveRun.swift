import Merge
import RealmState
import SyncModel

/// Goes through all cases of a family.
package struct ExhaustiveRun: Sendable {
    package struct Report: Sendable {
        package var cases = 0
        package var failed = 0
        /// The first failures, as scripts.
        package var failures: [(script: SimulationScript, failure: SimulationFailure)] = []
    }

    private let family: ExhaustiveFamily
    private let rules: SimulationRules
    private let maxFailures: Int
    /// One case in so many; all of them with 1.
    private let sparseness: Int

    package init(_ family: ExhaustiveFamily, _ rules: SimulationRules, maxFailures: Int = 3, sparseness: Int = 1) {
        self.family = family
        self.rules = rules
        self.maxFailures = maxFailures
        self.sparseness = max(1, sparseness)
    }

    package func run() -> Report {
        var report = Report()
        for start in family.starts { run(start, &report) }
        return report
    }

    /// A client that has made its move and sent it.
    private struct Prepared {
        var client: SimulatedClient
        var uploads: [SimulatedUpload]
    }

    private struct Case {
        let start: ExhaustiveFamily.Start
        let prepared: [[Prepared]]
        let order: [Int]
        /// What the server ended up with, by combination, in the orders before this one.
        var results: [Int: StateDigest] = [:]
        /// The moves of those who have arrived, in the order of arrival.
        var chosen: [Int] = []
    }

    private func run(_ start: ExhaustiveFamily.Start, _ report: inout Report) {
        let base: Simulation
        var prepared: [[Prepared]] = []
        do throws(SimulationFailure) {
            base = try Simulation(rules: rules, clients: family.clients, setup: start.setup, checksLaws: false)
            for (index, client) in base.clients.enumerated() {
                prepared.append(
                    try start.moves.map { move throws(SimulationFailure) in
                        try Self.prepare(client, start.transactions(move, client: index + 1))
                    })
            }
        } catch {
            report.failed += 1
            return
        }
        var results: [Int: StateDigest] = [:]
        for order in Self.orders(of: family.clients) {
            var state = Case(start: start, prepared: prepared, order: order, results: results)
            arrive(base.server, [], &state, &report)
            results = state.results
        }
    }

    private static func prepare(
        _ client: SimulatedClient, _ transactions: [[Edit]]
    ) throws(SimulationFailure) -> Prepared {
        var client = client
        for edits in transactions { client.write(edits) }
        try client.upload(entries: .max)
        let uploads = client.session.uploads
        client.session.uploads = []
        return Prepared(client: client, uploads: uploads)
    }

    /// The next client in the order makes each of its moves.
    private func arrive(
        _ server: SimulatedServer, _ arrived: [SimulatedClient], _ state: inout Case, _ report: inout Report
    ) {
        let position = state.chosen.count
        guard position < state.order.count else { return }
        let isLast = position == state.order.count - 1
        let who = state.order[position]
        for move in state.prepared[who].indices {
            // How many cases begin like this; if none of them is to be tried, what they have in common need not be either.
            let cases = (position + 1..<state.order.count).reduce(1) { count, _ in count * state.start.moves.count }
            if (report.cases + cases) / sparseness == report.cases / sparseness {
                report.cases += cases
                continue
            }
            if isLast { report.cases += 1 }
            state.chosen.append(move)
            defer { state.chosen.removeLast() }
            var server = server
            var clients = arrived
            do throws(SimulationFailure) {
                let prepared = state.prepared[who][move]
                clients.append(prepared.client)
                for upload in prepared.uploads { _ = try server.receive(upload, &clients[position].session) }
                // Everyone who has uploaded gets what is new, one changeset a message.
                for index in clients.indices { try Self.download(&clients[index], from: server) }
                guard isLast else {
                    arrive(server, clients, &state, &report)
                    continue
                }
                try compare(server, clients)
                try compareOrders(server, &state)
            } catch {
                fail(error, state, &report)
            }
        }
    }

    private static func download(
        _ client: inout SimulatedClient, from server: SimulatedServer
    ) throws(SimulationFailure) {
        while client.progress.download.serverVersion < server.latest {
            guard let message = try server.download(&client.session, maxBytes: 1) else { return }
            try client.integrate(message)
        }
    }

    // MARK: Checks

    private func compare(
        _ server: SimulatedServer, _ clients: [SimulatedClient]
    ) throws(SimulationFailure) {
        let expected = StateDump.canonical(of: server.state)
        for client in clients where StateDump.canonical(of: client.state) != expected {
            throw SimulationFailure(
                .quiescentConvergence,
                "file \(client.ident) has \(StateDump.json(of: client.state)), the server has "
                    + StateDump.json(of: server.state))
        }
    }

    /// P12.
    private func compareOrders(_ server: SimulatedServer, _ state: inout Case) throws(SimulationFailure) {
        guard family.isOrderIndependent else { return }
        var combination = 0
        for client in state.order.indices.sorted(by: { state.order[$0] < state.order[$1] }) {
            combination = combination * state.start.moves.count + state.chosen[client]
        }
        let digest = StateDump.digest(of: server.state)
        if let other = state.results[combination], other != digest {
            throw SimulationFailure(
                .uploadOrderDoesNotMatter,
                "in order \(state.order.map { $0 + 1 }) the server has \(StateDump.json(of: server.state))")
        }
        state.results[combination] = digest
    }

    private func fail(_ failure: SimulationFailure, _ state: Case, _ report: inout Report) {
        report.failed += 1
        guard report.failures.count < maxFailures else { return }
        var script = SimulationScript(rules: rules, clients: family.clients, setup: state.start.setup)
        script.remarks = ["Family \(family.name) broke \(failure.invariant)."]
        for (who, move) in zip(state.order, state.chosen) {
            for edits in state.start.transactions(state.start.moves[move], client: who + 1) {
                script.steps.append(.write(who + 1, edits))
            }
        }
        for who in state.order.prefix(state.chosen.count) {
            script.steps += [.upload(who + 1, entries: 1_000), .arrive(who + 1)]
        }
        script.steps.append(.quiet)
        report.failures.append((script, failure))
    }

    private static func orders(of count: Int) -> [[Int]] {
        guard count > 1 else { return [[0]] }
        return orders(of: count - 1).flatMap { shorter in
            (0...shorter.count).map { place in
                var order = shorter
                order.insert(count - 1, at: place)
                return order
            }
        }
    }
}
