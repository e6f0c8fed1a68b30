import ArgumentParser
import Foundation
import Inspection
import Storage
import SyncModel

struct RealmsVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check realms' histories against their states.",
        discussion: """
            Replays each history from nothing and compares what it makes with the stored state, object by object; checks that
            versions, salts and byte counts go on without a gap, that client files' progress lies within the history, and
            that reciprocals lie within their window. Where a history was compacted, its newest base and what follows are
            replayed, as a new client gets them.

            Reads each realm in one read transaction, so a cluster may run meanwhile. Memory is bounded; large realms are
            replayed into a temporary folder (TMPDIR) of about their history's size.

            Exit codes: 0 all sound, 1 something is wrong, others as usual.
            """)
    @OptionGroup var cluster: ClusterOptions
    @OptionGroup var output: OutputOptions
    @Option(help: "Only this app's.") var app: String?
    @Option(help: "With --app: only this realm.") var realm: String?
    @Flag(help: "Every realm of every app.") var all = false

    func run() async throws {
        try await reportingFailures {
            guard all != (app != nil) else {
                throw CommandFailure(.badInput, "give --app, --app and --realm, or --all")
            }
            guard realm == nil || app != nil else { throw CommandFailure(.badInput, "--realm needs --app") }
            let realms = try StoredRealms(try await cluster.load())
            var tally = (sound: 0, unsound: 0)
            let report = Report(json: output.json)
            if let app, let realm {
                let name = RealmName(app: app, partition: RealmName.partition(fromText: realm))
                let verdict = try await verify(name, try await realms.reader(of: name))
                guard let verdict else { throw StoredRealms.missing(name) }
                try report.add(verdict, &tally)
            } else {
                try await realms.forEach(app: app) { record, reader in
                    if let verdict = try await verify(record.name, reader) { try report.add(verdict, &tally) }
                }
            }
            if tally.sound + tally.unsound == 0, let app {
                throw CommandFailure(.notFound, "there is no realm of app \(app) in the store")
            }
            try report.finish(tally)
            if tally.unsound > 0 { throw ExitCode(1) }
        }
    }

    private func verify(_ name: RealmName, _ reader: any SliceReader) async throws -> RealmVerdict? {
        let progress = VerifyProgress(name)
        defer { progress.end() }
        return try await RealmVerifier.verify(name, in: reader) { progress.show($0, of: $1) }
    }

    /// One line a realm as soon as it is done: JSON lines with `--json`.
    private struct Report {
        let json: Bool

        func add(_ verdict: RealmVerdict, _ tally: inout (sound: Int, unsound: Int)) throws {
            if verdict.isSound { tally.sound += 1 } else { tally.unsound += 1 }
            if json { return try Printing.json(verdict) }
            let after = verdict.historyBase > 0 ? " after \(verdict.historyBase)" : ""
            let base = verdict.base.map { ", base \($0)" } ?? ""
            Printing.line(
                "\(verdict.isSound ? "ok   " : "FAULT")  \(verdict.app) \(verdict.partition.oneLine)  slice \(verdict.slice)"
                    + "  version \(verdict.version)  \(verdict.entries) in history\(after)\(base)  \(verdict.objects) objects"
                    + "  \(verdict.clientFiles) client files  replay \(verdict.replay.rawValue)"
                    + (verdict.digest.map { "  \($0)" } ?? ""))
            for finding in verdict.findings {
                Printing.line("       \(finding.check.rawValue): \(finding.what.oneLine)")
            }
            let more = verdict.findingCount - verdict.findings.count
            if more > 0 { Printing.line("       and \(more) more") }
        }

        func finish(_ tally: (sound: Int, unsound: Int)) throws {
            guard !json else { return }
            Printing.note("\(tally.sound + tally.unsound) realms, \(tally.unsound) with faults")
        }
    }
}

/// A line on the terminal that says how far a long verification has come; nothing where nobody watches.
final class VerifyProgress {
    private let name: RealmName
    private let isWatched = isatty(STDERR_FILENO) == 1
    private var shownAt = ContinuousClock.now
    private var hasShown = false

    init(_ name: RealmName) { self.name = name }

    func show(_ done: UInt64, of total: UInt64) {
        guard isWatched, total > 0, ContinuousClock.now - shownAt > .milliseconds(500) else { return }
        shownAt = .now
        hasShown = true
        let percent = min(100, Int(Double(done) / Double(total) * 100))
        write("\r\u{1b}[Kverifying \(name.app) \(name.partition.oneLine): \(percent) % of \(total) bytes")
    }

    func end() {
        if hasShown { write("\r\u{1b}[K") }
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
