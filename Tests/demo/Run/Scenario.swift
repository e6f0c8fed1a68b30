import Foundation
import LocalCluster

/// What the demo does, in order.
final class Scenario {
    let stage: any Stage
    let recording: String
    let narrator: Narrator
    /// The title of the step under way.
    private(set) var step = ""
    private var clients: [ClientProcess] = []
    private let offline = [
        ("recover-1", "recover"), ("recover-2", "recover"), ("either-1", "recoverOrDiscard"),
        ("either-2", "recoverOrDiscard"), ("discard-1", "discard"), ("discard-2", "discard"), ("manual-1", "manual"),
        ("manual-2", "manual"), ("absent", "recover"),
    ]
    /// Stays online, edits what the others hold, and resets too.
    private let editorName = "editor"
    private let loadCount = 40

    init(stage: any Stage, recording: String, narrator: Narrator) {
        self.stage = stage
        self.recording = recording
        self.narrator = narrator
    }

    var cluster: LocalCluster { stage.cluster }

    func run() async throws -> Report {
        try await startCluster()
        try await openClients()
        try await loadAndKill()
        try await editBothSides()
        let campaign = try await terminate()
        try await returnClients(campaign: campaign)
        var report = try await account(of: campaign)
        try await publishRecording(&report)
        if let news = try await stage.mend(atTheEnd: true) { narrator.say(news) }
        try await checkCopies(&report)
        begin(FlexibleChapter.title)
        try await FlexibleChapter(cluster: cluster, narrator: narrator).run(&report)
        return report
    }

    func stop() async {
        for client in clients { await client.kill() }
        await stage.stop()
    }

    private func begin(_ title: String) {
        step = title
        narrator.chapter(title)
    }

    private func startCluster() async throws {
        begin(stage.title)
        try await stage.start()
        try await cluster.operate("apps", "create", DemoSchema.app, "--rules", "open")
        narrator.say(
            "app \(DemoSchema.app) created; clients go to \(cluster.gatewayURL); \(cluster.slices) slices have their owners"
        )
    }

    private struct SliceLine: Decodable {
        var owner: String?
    }

    private func openClients() async throws {
        begin("Ten client realms of one partition, each in its own process")
        for (name, mode) in offline + [(editorName, "recover")] {
            clients.append(try await ClientProcess(name: name, mode: mode, cluster: cluster))
        }
        try await all { try await $0.ask(ClientCommandLine(.open)) }
        try await all { try await $0.ask(ClientCommandLine(.seed)) }
        try await all { try await $0.ask(ClientCommandLine(.upload)) }
        try await converge()
        narrator.say("every client wrote three tasks; all \(clients.count) copies are equal")
    }

    private func loadAndKill() async throws {
        begin("Load, and \(stage.threat)")
        let victim = try await ownerOfTheRealm()
        let (everyone, count) = (clients, loadCount)
        async let loading: Void = Self.each(everyone) { try await $0.ask(ClientCommandLine(.load, count: count)) }
        try await Task.sleep(for: .milliseconds(300))
        narrator.say(try await stage.strike(worker: victim))
        try await loading
        try await all { try await $0.ask(ClientCommandLine(.upload)) }
        try await converge()
        let expected = clients.count * loadCount
        for client in clients {
            let count = try await client.ask(ClientCommandLine(.count, className: "Load")).count ?? 0
            guard count == expected else {
                throw LocalClusterError(
                    "client \(client.name) has \(count) of the \(expected) objects written under load")
            }
        }
        narrator.say("all \(expected) changes acknowledged and in every copy; \(stage.relief)")
        if let news = try await stage.mend(atTheEnd: false) { narrator.say(news) }
    }

    private func ownerOfTheRealm() async throws -> String {
        // The slices may still be on their way from the worker that started first to the other one.
        try await LocalCluster.retrying("the realm's slice has an owner") {
            let text = try await cluster.operate(
                "slices", "--app", DemoSchema.app, "--partition", ClientRealm.partition, "--json")
            let lines = try JSONDecoder().decode([SliceLine].self, from: Data(text.utf8))
            guard let owner = lines.first?.owner else { throw LocalClusterError("it has none: \(text)") }
            return owner
        }
    }

    private func editBothSides() async throws {
        begin("Nine client realms go offline; both sides edit")
        let away = clients.filter { $0.name != editorName }
        try await Self.each(away) { try await $0.ask(ClientCommandLine(.suspend)) }
        try await Self.each(away) { try await $0.ask(ClientCommandLine(.editOffline)) }
        narrator.say("each offline client: creates a task (rule 1), edits one (2), deletes one (3), renames one (4)")
        let editor = try editor()
        try await editor.ask(ClientCommandLine(.editOnline, names: away.map(\.name)))
        try await editor.ask(ClientCommandLine(.upload))
        narrator.say("the editor, online: deletes what they edit (2), edits what they delete (3), renames the same (4)")
    }

    private func terminate() async throws -> String {
        begin("Sync is terminated and enabled again")
        struct Answer: Decodable { var campaign: String }
        let answer = try await cluster.operateJSON(
            Answer.self, "sync", "terminate", DemoSchema.app, "--yes", "--reason", "demo", "--enable")
        narrator.say("sluice sync terminate \(DemoSchema.app) --enable: campaign \(answer.campaign)")
        return answer.campaign
    }

    private struct CampaignDocument: Decodable {
        struct ClientRealm: Decodable {
            var clientFile: UInt64
            var user: String
            var outcome: String
            var report: Outcome?
        }
        struct Outcome: Decodable {
            var changesets: Changesets?
            var backupFile: String?
        }
        struct Changesets: Decodable {
            var recovered: Int
            var discarded: Int
        }
        var counts: CampaignCounts
        var clientRealms: [ClientRealm]?
    }

    private func counts(of campaign: String) async throws -> CampaignCounts {
        try await cluster.operateJSON(CampaignDocument.self, "campaigns", "show", campaign).counts
    }

    private func returnClients(campaign: String) async throws {
        begin("The clients come back, one of them not")
        let returning = clients.filter { $0.name != "absent" }
        let watching = watch(campaign)
        defer { watching.cancel() }
        try await Self.each(returning.filter { $0.name != editorName }) { try await $0.ask(ClientCommandLine(.resume)) }
        try await Self.each(returning) { try await $0.ask(ClientCommandLine(.awaitReset)) }
        try await Self.each(returning) { try await $0.ask(ClientCommandLine(.upload)) }
        try await LocalCluster.retrying("the campaign has every outcome but one") {
            let counts = try await self.counts(of: campaign)
            guard counts.pending == 1, counts.found == self.clients.count else {
                throw LocalClusterError("the campaign stands at: \(counts.line)")
            }
        }
        watching.cancel()
        narrator.say(try await counts(of: campaign).line)
    }

    /// Shows the campaign's counts whenever they change, until the task is cancelled.
    private func watch(_ campaign: String) -> Task<Void, any Error> {
        Task { [cluster, narrator] in
            var last: CampaignCounts?
            while !Task.isCancelled {
                let now = try await cluster.operateJSON(CampaignDocument.self, "campaigns", "show", campaign).counts
                if now != last { narrator.say(now.line) }
                last = now
                try await Task.sleep(for: .milliseconds(400))
            }
        }
    }

    private func account(of campaign: String) async throws -> Report {
        let document = try await cluster.operateJSON(
            CampaignDocument.self, "campaigns", "show", campaign, "--client-realms")
        var report = Report(campaign: document.counts)
        for client in clients {
            let identity = try await client.ask(ClientCommandLine(.identify))
            let row = document.clientRealms?.first { $0.user == identity.user }
            report.clients.append(
                Report.Client(
                    name: client.name, clientFile: row?.clientFile, mode: client.mode,
                    outcome: row?.outcome ?? "unaccounted", recovered: row?.report?.changesets?.recovered ?? 0,
                    discarded: row?.report?.changesets?.discarded ?? 0,
                    backupFile: row?.report?.backupFile ?? identity.backupFile))
        }
        report.check("the campaign adds up", document.counts.addsUp, document.counts.line)
        report.check("every client realm was found", document.counts.found == clients.count, document.counts.line)
        let expected = [
            "recover": "recovered", "recoverOrDiscard": "recovered", "discard": "discarded", "manual": "manual",
        ]
        for client in report.clients {
            let outcome = client.name == "absent" ? "pending" : expected[client.mode] ?? ""
            report.check("\(client.name) ended as \(outcome)", client.outcome == outcome, "it is \(client.outcome)")
        }
        for client in report.clients where client.mode == "manual" {
            report.check("\(client.name) kept its changes in a backup", client.backupFile != nil, "there is none")
        }
        return report
    }

    private func publishRecording(_ report: inout Report) async throws {
        begin("An operator publishes a recording of a stock client from the shell")
        let text = try await cluster.operate(
            "publish", "changeset", "--app", DemoSchema.app, "--partition", ClientRealm.partition, "--file", recording,
            "--json")
        let published = text.split(separator: "\n").count
        narrator.say(
            "sluice publish changeset --app \(DemoSchema.app) --partition \(ClientRealm.partition) --file \(recording)")
        let present = clients.filter { $0.name != "absent" }
        try await LocalCluster.retrying("the recording arrives at every client realm") {
            for client in present {
                let count = try await client.ask(ClientCommandLine(.count, className: Recording.className)).count ?? 0
                guard count == Recording.objectCount else {
                    throw LocalClusterError(
                        "\(client.name) has \(count) of \(Recording.objectCount) \(Recording.className) objects")
                }
            }
        }
        narrator.say(
            "\(published) events; \(Recording.objectCount) \(Recording.className) objects in each of \(present.count) copies"
        )
        report.check("the recording arrived everywhere", true)
    }

    private func checkCopies(_ report: inout Report) async throws {
        let present = clients.filter { $0.name != "absent" }
        let editor = try editor()
        for client in present where client.name != editorName {
            let recovers = client.mode == "recover" || client.mode == "recoverOrDiscard"
            func fields(_ rule: String) async throws -> [String: String]? {
                try await editor.ask(ClientCommandLine(.object, className: "Task", key: "\(client.name)/\(rule)"))
                    .fields
            }
            let created = try await fields("rule1")
            report.check(
                "\(client.name), rule 1: created offline, \(recovers ? "kept" : "given up")",
                (created != nil) == recovers)
            let edited = try await fields("rule2")
            report.check("\(client.name), rule 2: deleted on the server, stays deleted", edited == nil)
            let deleted = try await fields("rule3")
            report.check(
                "\(client.name), rule 3: deleted offline, \(recovers ? "deleted everywhere" : "still there")",
                (deleted == nil) == recovers)
            let renamed = try await fields("rule4")
            report.check(
                "\(client.name), rule 4: both renamed, \(recovers ? "the client" : "the server") wins; the note is the server's",
                renamed?["title"] == (recovers ? "renamed by \(client.name)" : "renamed by editor")
                    && renamed?["note"] == "noted by editor",
                "it is \(renamed ?? [:])")
        }
        do {
            try await converge(present)
            report.converged = true
        } catch {
            narrator.say("\(error)")
        }
        report.check("all \(present.count) copies are equal", report.converged)
    }

    private func editor() throws -> ClientProcess {
        guard let editor = clients.first(where: { $0.name == editorName }) else { throw LocalClusterError("no editor") }
        return editor
    }

    private func all(_ body: @escaping @Sendable (ClientProcess) async throws -> Void) async throws {
        try await Self.each(clients, body)
    }

    private static func each(
        _ clients: [ClientProcess], _ body: @escaping @Sendable (ClientProcess) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { try await body(client) } }
            try await group.waitForAll()
        }
    }

    /// Every copy downloads what there is; then all digests must be the same.
    private func converge(_ some: [ClientProcess]? = nil) async throws {
        let clients = some ?? self.clients
        try await LocalCluster.retrying("all copies are equal") {
            var digests: [String: String] = [:]
            for client in clients {
                try await client.ask(ClientCommandLine(.download))
                digests[client.name] = try await client.ask(ClientCommandLine(.digest)).digest
            }
            guard Set(digests.values).count == 1 else { throw LocalClusterError("copies differ: \(digests)") }
        }
    }
}
