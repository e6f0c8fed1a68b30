import DeviceSync
import Foundation
import LocalCluster
import SeededRandom
import SyncModel
import Synchronization

/// The part of a run that plays in an app in flexible mode: clients whose subscriptions and roles change under the same faults, and whose copies are
/// compared with their views at the end.
final class ViewRun: Sendable {
    private let cluster: LocalCluster
    private let journal: Journal
    private let clients: [ViewClient]
    /// Subscribes to everything and writes nothing.
    private let witness: ViewClient
    private let undone = UndoneWrites()
    private let roleChanges = Mutex(0)

    init(clients count: Int, url: String, cluster: LocalCluster, journal: Journal) {
        self.cluster = cluster
        self.journal = journal
        let undone = undone
        clients = (0..<count).map { ViewClient(name: "view-\($0)", url: url, undone: undone) }
        witness = ViewClient(name: "witness", url: url, undone: undone)
    }

    /// - Parameter prepare: is called once the app is there, before anything is written.
    func open(_ prepare: () async throws -> Void) async throws {
        try await cluster.operate("apps", "create", ViewWorld.app, "--sync-mode", "flexible", "--rules", "open")
        try await prepare()
        try await setRules(ViewWorld.groups)
        // The first one brings the class along.
        try await witness.open()
        try await witness.upload()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask { try await client.open(waits: number.isMultiple(of: 2)) }
            }
            try await group.waitForAll()
        }
    }

    /// Writes, and changes roles, until it is cancelled.
    func burn(_ random: SeededGenerator, pace: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask { await client.work(random.fork(1_000 + number), pace: pace) }
                group.addTask { await client.follow() }
            }
            group.addTask { await self.changeRoles(random.fork(999)) }
        }
    }

    private func changeRoles(_ random: SeededGenerator) async {
        var random = random
        var isOpen = true
        while (try? await Task.sleep(for: .milliseconds(Int.random(in: 4_000...15_000, using: &random)))) != nil {
            isOpen.toggle()
            do {
                try await setRules(isOpen ? ViewWorld.groups : ViewWorld.common)
                roleChanges.withLock { $0 += 1 }
                journal.note("roles: \(isOpen ? "all groups" : "three groups")")
            } catch {
                journal.note("the roles did not change: \(error)")
            }
        }
    }

    private func setRules(_ groups: Set<String>) async throws {
        let file = "\(cluster.folder)/view-rules.json"
        try Data(ViewWorld.rules(groups).utf8).write(to: URL(fileURLWithPath: file))
        try await cluster.operate("rules", "set", ViewWorld.app, file)
    }

    // MARK: The reckoning

    func reckon(_ documents: DocumentRun?, _ report: inout FireReport) async {
        report.viewClients = clients.count
        report.queryChanges = clients.map(\.queryChanges).reduce(0, +)
        report.roleChanges = roleChanges.withLock { $0 }
        do {
            let all = try await settled(under: ViewWorld.groups, &report)
            await documents?.compare(
                RealmName(flexible: ViewWorld.app), { ViewWorld.cards($0) }, with: all,
                difference: { "\($0.count) and \($1.count) cards" }, &report)
            let writers = documents?.cardWriters ?? []
            let made = (clients.map(\.made) + writers.map(\.entries)).reduce(into: Set<String>()) { $0.formUnion($1) }
            // What a role has forbidden is undone; nobody forbids a backend anything.
            let forbidden = undone.all.subtracting(writers.flatMap(\.entries))
            let lost = made.subtracting(all.keys).subtracting(forbidden)
            report.lost += lost.count
            if !lost.isEmpty {
                report.findings.append(
                    "\(ViewWorld.app): \(lost.count) cards are lost, such as \(lost.sorted().prefix(3))")
            }
            let strange = Set(all.keys).subtracting(made)
            if !strange.isEmpty {
                report.findings.append("\(ViewWorld.app): nobody made \(strange.sorted().prefix(3))")
            }
            reckon(writers, all, &report)
            // The same cards under narrower roles: nobody writes any more.
            let some = try await settled(under: ViewWorld.common, &report)
            if some != all.filter({ ViewWorld.common.contains($0.value.group) }) {
                report.diverged += 1
                report.findings.append("\(ViewWorld.app): a change of roles left the witness with \(some.count) cards")
            }
        } catch {
            report.findings.append("\(ViewWorld.app): \(error)")
        }
        report.undone = undone.all.count
        if !undone.outside.isEmpty {
            report.findings.append(
                "\(ViewWorld.app): \(undone.outside.count) writes of honest clients were undone for their subscriptions, such as "
                    + "\(undone.outside.sorted().prefix(3))")
        }
        for client in clients {
            report.attempted += client.attempted
            report.acknowledged += client.acknowledged
            if client.acknowledged != client.attempted {
                report.findings.append(
                    "\(client.name): \(client.attempted - client.acknowledged) changes are not acknowledged; errors: "
                        + "\(client.errors)")
            }
        }
    }

    /// Counts what backends have done to cards: each acknowledged write once.
    private func reckon(_ writers: [DocumentWriter], _ all: [String: ViewWorld.Card], _ report: inout FireReport) {
        let hits = writers.reduce(into: [String: Int]()) { $0.merge($1.hits) { $1 } }
        for (id, card) in all {
            let expected = hits[id] ?? 0
            guard card.hits != expected else { continue }
            report.lost += max(0, expected - card.hits)
            report.duplicated += max(0, card.hits - expected)
            report.findings.append("\(ViewWorld.app): card \(id) was raised \(expected) times, and says \(card.hits)")
        }
        let revived = writers.flatMap(\.deleted).filter { all[$0] != nil }
        report.duplicated += revived.count
        if !revived.isEmpty {
            report.findings.append(
                "\(ViewWorld.app): \(revived.count) deleted cards are there, such as \(revived.sorted().prefix(3))")
        }
    }

    /// Puts roles in force, and waits until each copy is what they and its subscriptions select of what the witness has.
    ///
    /// - Returns: what the witness has.
    private func settled(
        under groups: Set<String>, _ report: inout FireReport
    ) async throws -> [String: ViewWorld.Card] {
        try await LocalCluster.retrying("the roles are in force", upTo: .seconds(60)) {
            try await self.setRules(groups)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients + [witness] {
                group.addTask {
                    try await LocalCluster.retrying("\(client.name) has everything", upTo: .seconds(180)) {
                        try await within(.seconds(60), "\(client.name) gets through") { try await client.settle() }
                    }
                }
            }
            try await group.waitForAll()
        }
        do {
            return try await LocalCluster.retrying("each copy is its view", upTo: .seconds(60)) {
                let all = try self.witness.cards
                guard all.values.allSatisfy({ groups.contains($0.group) }) else {
                    throw LocalClusterError("the witness has cards of groups that it must not see")
                }
                for client in self.clients {
                    let view = all.filter { client.groups.contains($0.value.group) }
                    let copy = try client.cards
                    guard copy == view else {
                        throw LocalClusterError(Self.difference(client, copy, view))
                    }
                }
                return all
            }
        } catch {
            report.diverged += 1
            throw error
        }
    }

    private static func difference(
        _ client: ViewClient, _ copy: [String: ViewWorld.Card], _ view: [String: ViewWorld.Card]
    ) -> String {
        let extra = copy.keys.filter { view[$0] == nil }.sorted()
        let missing = view.keys.filter { copy[$0] == nil }.sorted()
        let other = copy.keys.filter { key in view[key].map { $0 != copy[key] } ?? false }.sorted()
        return
            "\(client.name), subscribed to \(client.groups.sorted().joined(separator: ", ")), has \(copy.count) cards of "
            + "\(view.count): \(extra.prefix(3)) too much, \(missing.prefix(3)) too few, \(other.prefix(3)) another"
    }
}
