import Foundation
import LocalCluster

/// What the demo tells the person in front of it; reads the same on a terminal and in a log.
struct Narrator: Sendable {
    let start = ContinuousClock.now
    /// The handle to write to; with --json, standard output is kept for the JSON line.
    let handle: FileHandle

    init(toStandardError: Bool) {
        handle = toStandardError ? .standardError : .standardOutput
    }

    func write(_ text: String) { try? handle.write(contentsOf: Data((text + "\n").utf8)) }

    func chapter(_ title: String) { write("\n== \(title)") }

    func say(_ text: String) {
        let elapsed = start.duration(to: .now)
        let tenths =
            Int(elapsed.components.seconds) * 10 + Int(elapsed.components.attoseconds / 100_000_000_000_000_000)
        let seconds = "\(tenths / 10).\(tenths % 10)"
        write(String(repeating: " ", count: max(0, 6 - seconds.count)) + seconds + "  " + text)
    }

    /// The last line, after all logs: whether everything held, and if not, what did not.
    func conclude(_ report: Report) {
        let failed = report.checks.filter { !$0.holds }.map { $0.name + $0.detail }
        write(
            failed.isEmpty
                ? "\nHELD: all \(report.checks.count) checks"
                : "\nFAILED: \(failed.count) of \(report.checks.count) checks: \(failed.joined(separator: "; "))")
    }

    func conclude(_ failure: Failure) {
        write("\nFAILED in \"\(failure.step)\": " + failure.error.split(separator: "\n").joined(separator: " "))
    }

    func table(_ header: [String], _ rows: [[String]]) {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        for row in all {
            let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            write("        " + line.joined(separator: "  "))
        }
    }

    func show(_ report: Report) {
        chapter("The account")
        table(
            ["client realm", "mode", "outcome", "recovered", "discarded", "backup file"],
            report.clients.map { client in
                [
                    client.name, client.mode, client.outcome, "\(client.recovered)", "\(client.discarded)",
                    client.backupFile ?? "-",
                ]
            })
        let campaign = report.campaign
        write(
            "\n        found \(campaign.found) = recovered \(campaign.recovered) + discarded \(campaign.discarded)"
                + " + manual \(campaign.manual) + failed \(campaign.failed)"
                + " + superseded \(campaign.superseded) + pending \(campaign.pending)")
        chapter("What must hold")
        for check in report.checks { write("  \(check.holds ? "ok    " : "FAILED")  \(check.name)\(check.detail)") }
    }

    /// - Parameter dashboard: a link to the dashboard that logs in once.
    func showCommandsToTry(_ stage: any Stage, dashboard: String?) {
        let cluster = stage.cluster
        chapter("The cluster stays up; press Ctrl-C to end it")
        if let dashboard {
            write("In a browser, logged in once, with the campaign of the demo:\n\n  \(dashboard)\n")
        }
        write("In another shell:\n")
        if let wayIn = stage.wayIn { write("  \(wayIn)") }
        for (name, value) in cluster.environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix("SLUICE_") || name == "PGPASSWORD" {
            write("  export \(name)='\(value)'")
        }
        write("  alias sluice=\(cluster.sluice)\n")
        for command in [
            "sluice slices", "sluice queues --live", "sluice campaigns list", "sluice apps show \(DemoSchema.app)",
            "sluice publish changeset --help", "sluice sync terminate \(DemoSchema.app) --enable",
            "sluice campaigns watch",
            "curl -s \(cluster.gatewayURL)/api/client/v2.0/app/\(DemoSchema.app)/location",
        ] { write("  " + command) }
        write("\nLogs and stores: \(cluster.folder)")
    }

    func showLogs(in cluster: LocalCluster) {
        write("\nLogs: \(cluster.folder)/logs. Their last lines:")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: cluster.folder + "/logs")) ?? []
        for name in names.sorted() {
            guard let text = try? String(contentsOfFile: "\(cluster.folder)/logs/\(name)", encoding: .utf8) else {
                continue
            }
            write("-- \(name)")
            for line in text.split(separator: "\n").suffix(6) { write("   " + line.prefix(240)) }
        }
    }
}
