import DeviceSync
import Foundation
import LocalCluster
import SeededRandom
import SyncModel

/// One run: a cluster, its clients under load, faults until the time is up, and the reckoning.
struct FireRun: Sendable {
    struct Settings: Sendable {
        var seed: UInt64
        var seconds: Int
        var clients: Int
        var partitions: Int
        /// Clients of an app in flexible mode beside them; 0: there is no such app.
        var views: Int
        /// Backends that write documents; 0: the apps' changes are not followed either.
        var writers: Int
        /// How long each client waits between two changes.
        var pace: Duration
    }

    /// Never reset: here everything must be there exactly once.
    private static let steady = "fire-steady"
    /// Terminated now and then: here nothing may be lost that a client holds on to, and every reset must end in an
    /// outcome. What was integrated but not yet acknowledged when the reset came is recovered on top of itself, which is
    /// how recovery is defined, so increments and lines are not counted here.
    private static let resetting = "fire-resets"

    let settings: Settings
    let cluster: any FireCluster
    let journal: Journal
    /// What does the harm, given the clients that are there and the terminations to choose from.
    let trouble: @Sendable ([FireClient], Terminations) async -> any Trouble

    func run() async throws -> FireReport {
        var report = FireReport(seed: settings.seed, seconds: settings.seconds)
        try await cluster.start()
        let documents = settings.writers > 0 ? documentRun : nil
        for app in [Self.steady, Self.resetting] {
            try await cluster.cluster.operate("apps", "create", app, "--rules", "open")
            try await documents?.open(app)
        }
        let random = SeededGenerator(seed: settings.seed)
        let following = documents.map { documents in Task { await documents.follow(random) } }
        defer { following?.cancel() }
        journal.note("the cluster is up; clients connect to \(cluster.url)")
        let clients = try await openClients()
        let views =
            settings.views > 0
            ? ViewRun(clients: settings.views, url: cluster.url, cluster: cluster.cluster, journal: journal) : nil
        try await views?.open { try await documents?.open(ViewWorld.app) }
        journal.note("\(clients.count) client realms are open")
        let terminations = Terminations(app: Self.resetting, cluster: cluster.cluster, journal: journal)
        await burn(clients, views, documents, terminations, &report)
        // What does not come back is a finding, not the end of the reckoning.
        do { try await cluster.heal(journal) } catch { report.findings.append("after the faults: \(error)") }
        await documents?.settle()
        await settle(clients, &report)
        await views?.reckon(documents, &report)
        await reckon(clients, documents, terminations, &report)
        documents?.reckon(&report)
        report.unexpectedEnds = cluster.unexpectedEnds
        report.queuesDeleted = cluster.deletedQueues
        report.deadLetters = try await deadLetters()
        return report
    }

    private var documentRun: DocumentRun {
        DocumentRun(
            writers: settings.writers,
            partitions: (0..<settings.partitions).filter { $0 % 3 != 2 }.map { "p\($0)" }, of: Self.steady,
            views: settings.views > 0,
            following: [Self.steady, Self.resetting] + (settings.views > 0 ? [ViewWorld.app] : []),
            cluster: cluster.cluster, journal: journal)
    }

    private func openClients() async throws -> [FireClient] {
        let url = cluster.url
        let clients = (0..<settings.clients).map { number in
            // A third of the partitions belong to the app that is terminated.
            let partition = number % settings.partitions
            return FireClient(
                name: "client-\(number)", app: partition % 3 == 2 ? Self.resetting : Self.steady,
                partition: "p\(partition)", discards: partition % 3 == 2 && number / settings.partitions % 4 == 3,
                url: url)
        }
        for first in clients.prefix(settings.partitions) {
            try await first.open()
            try await first.seed()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients.dropFirst(settings.partitions) { group.addTask { try await client.open() } }
            try await group.waitForAll()
        }
        return clients
    }

    private func burn(
        _ clients: [FireClient], _ views: ViewRun?, _ documents: DocumentRun?, _ terminations: Terminations,
        _ report: inout FireReport
    ) async {
        var trouble = await trouble(clients, terminations)
        for line in trouble.leftOut { journal.note("left out: \(line)") }
        report.leftOut = trouble.leftOut
        guard trouble.isPossible else {
            report.findings.append("none of the faults is possible here")
            return
        }
        let random = SeededGenerator(seed: settings.seed)
        var counts: [String: Int] = [:]
        let start = ContinuousClock.now
        let end = start + .seconds(settings.seconds)
        await withTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                group.addTask { await client.work(random.fork(number), pace: settings.pace) }
                group.addTask { await client.follow() }
            }
            if let views { group.addTask { await views.burn(random, pace: settings.pace * 2) } }
            if let documents { group.addTask { await documents.write(random, pace: settings.pace * 2) } }
            group.addTask { await cluster.supervise(journal) }
            while ContinuousClock.now < end, !trouble.isOver, !Task.isCancelled {
                for fault in await trouble.strike() { counts[fault, default: 0] += 1 }
            }
            group.cancelAll()
        }
        // The fire may have been over before.
        report.seconds = min(settings.seconds, Int((ContinuousClock.now - start) / .seconds(1)))
        report.faults = counts
        report.outages = trouble.outages
        report.findings += trouble.findings
    }

    /// Waits until every client has uploaded what it has and downloaded what there is, and the copies are equal.
    private func settle(_ clients: [FireClient], _ report: inout FireReport) async {
        for members in Dictionary(grouping: clients, by: \.partition).values {
            members.first { !$0.discards }?.writeLast()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await cluster.supervise(journal) }
            for client in clients {
                group.addTask {
                    do {
                        try await LocalCluster.retrying(
                            "\(client.name) has uploaded and downloaded everything", upTo: .seconds(180)
                        ) {
                            try await within(.seconds(60), "\(client.name) gets through") {
                                try await client.upload()
                                try await client.download()
                            }
                        }
                    } catch {
                        journal.note("\(error); its errors: \(client.errors)")
                    }
                }
            }
            for _ in clients { _ = await group.next() }
            group.cancelAll()
        }
        journal.note("all clients have had their time to come to rest")
    }

    private func reckon(
        _ clients: [FireClient], _ documents: DocumentRun?, _ terminations: Terminations, _ report: inout FireReport
    ) async {
        report.clients = clients.count
        var open = 0
        for client in clients {
            report.attempted += client.attempted
            report.acknowledged += client.acknowledged
            report.late += client.late
            open += client.attempted - client.acknowledged
        }
        if open > 0 { report.findings.append("\(open) changes are not acknowledged") }
        for (partition, members) in Dictionary(grouping: clients, by: \.partition).sorted(by: { $0.key < $1.key }) {
            await reckon(partition, members, documents, &report)
        }
        do {
            let campaigns = try await LocalCluster.retrying("every reset has an outcome") {
                let campaigns = try await terminations.campaigns()
                let open = campaigns.filter { $0.counts.pending > 0 || !$0.counts.addsUp }
                guard open.isEmpty else {
                    throw LocalClusterError(
                        open.map { "campaign \($0.id) stands at \($0.counts)" }.joined(separator: "; "))
                }
                return campaigns
            }
            count(campaigns, &report)
            // Nothing that was done here is a reason for one client realm alone to reset.
            let needless =
                campaigns.filter { !$0.isTermination } + (try await terminations.campaigns(of: Self.steady))
                + (settings.views > 0 ? try await terminations.campaigns(of: ViewWorld.app) : [])
            for campaign in needless {
                report.findings.append(
                    "a needless reset, campaign \(campaign.id): \(campaign.reason ?? "no reason given")")
            }
        } catch {
            report.findings.append("\(error)")
            if let campaigns = try? await terminations.campaigns() { count(campaigns, &report) }
        }
    }

    private func deadLetters() async throws -> Int {
        struct Line: Decodable {
            var queue: String
            var ready: Int
        }
        let lines = try await cluster.cluster.operateJSON([Line].self, "queues")
        return lines.first { $0.queue == "\(cluster.cluster.prefix).dead" }?.ready ?? 0
    }

    private func count(_ campaigns: [Terminations.Campaign], _ report: inout FireReport) {
        for counts in campaigns.map(\.counts) {
            report.resetsFound += counts.found
            let ended =
                counts.recovered + counts.discarded + counts.manual + counts.failed + counts.superseded
            report.resetsAccounted += ended
            report.resetsUnaccounted += counts.found - ended
        }
    }

    private func reckon(
        _ partition: String, _ members: [FireClient], _ documents: DocumentRun?, _ report: inout FireReport
    ) async {
        var copies: [Copy] = []
        do {
            copies = try await LocalCluster.retrying("the copies of \(partition) are equal", upTo: .seconds(60)) {
                let copies = try members.map { Copy(try $0.realm) }
                let different = copies.filter { $0 != copies[0] }
                guard different.isEmpty else {
                    throw LocalClusterError(copies[0].difference(from: different[0]))
                }
                return copies
            }
        } catch {
            copies = members.compactMap { try? Copy($0.realm) }
            report.diverged += copies.filter { $0 != copies.first }.count
            report.findings.append("\(error)")
        }
        guard let copy = copies.first else { return }
        let app = members[0].app
        await documents?.compare(
            RealmName(app: app, partition: RealmName.partition(fromText: partition)), { Copy($0) }, with: copy,
            difference: { "replayed and copied: \($0.difference(from: $1))" }, &report)
        let kept = members.filter { !$0.discards }
        let writers = documents?.writers(in: partition, of: app) ?? []
        let made = kept.map(\.entries) + writers.map(\.entries)
        let missing = made.flatMap { entries in entries.filter { copy.entries[$0] == nil } }
        report.lost += missing.count
        if !missing.isEmpty {
            report.findings.append(
                "\(partition): \(missing.count) entries are lost, such as \(missing.sorted().prefix(3))")
        }
        let revived = writers.flatMap(\.deleted).filter { copy.entries[$0] != nil }
        report.duplicated += revived.count
        if !revived.isEmpty {
            report.findings.append(
                "\(partition): \(revived.count) deleted entries are there, such as \(revived.sorted().prefix(3))")
        }
        guard app == Self.steady else { return }
        let increments = (members.map(\.increments) + writers.map(\.increments)).reduce(0, +)
        report.lost += max(0, increments - copy.count)
        report.duplicated += max(0, copy.count - increments)
        if increments != copy.count {
            report.findings.append("\(partition): the counter is \(copy.count) after \(increments) increments")
        }
        let written = (members.map(\.lines) + writers.map(\.lines)).reduce(into: Set<String>()) { $0.formUnion($1) }
        let there = Set(copy.lines)
        report.lost += written.subtracting(there).count
        report.duplicated += copy.lines.count - there.count
        if written != there || copy.lines.count != there.count {
            report.findings.append(
                "\(partition): the list has \(copy.lines.count) lines, \(there.count) different, of \(written.count)")
        }
    }
}

/// Bounds a wait that has no end of its own.
func within<Value: Sendable>(
    _ limit: Duration, _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask(operation: body)
        group.addTask {
            try await Task.sleep(for: limit)
            throw LocalClusterError("waited \(limit) until \(what)")
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}
