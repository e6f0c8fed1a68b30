import ArgumentParser
import Foundation
import Inspection
import Storage
import SyncModel

struct RealmsVerify: ReportingCommand {
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
    @OptionGroup var common: ReportOptions
    @Option(help: "Only this app's.", completion: .apps) var app: String?
    @Option(help: "With --app: only this realm.") var realm: String?
    @Flag(help: "With --app: only its flexible realm.") var flexible = false
    @Flag(help: "Every realm of every app.") var all = false
    @Flag(help: "Print only what is wrong.") var faults = false

    func run(_ settings: ClusterSettings) async throws {
        guard all != (app != nil) else {
            throw CommandFailure(.badInput, "give --app, --app and --realm, or --all")
        }
        guard (realm == nil && !flexible) || app != nil else {
            throw CommandFailure(.badInput, "--realm and --flexible need --app")
        }
        guard realm == nil || !flexible else {
            throw CommandFailure(.badInput, "--flexible is the realm without a partition: leave --realm out")
        }
        let realms = try await StoredRealms(settings)
        var (sound, unsound) = (0, 0)
        /// Checks a realm and prints a line as soon as it is done.
        ///
        /// - Returns: false if there is no such realm.
        func verify(_ name: RealmName, _ reader: any SliceReader) async throws -> Bool {
            let progress = VerifyProgress(name)
            defer { progress.end() }
            let verdict = try await RealmVerifier.verify(name, in: reader) { progress.show($0, of: $1) }
            guard let verdict else { return false }
            if verdict.isSound { sound += 1 } else { unsound += 1 }
            if !faults || !verdict.isSound { try output.show(verdict, Self.text(of: verdict)) }
            return true
        }
        if let app,
            let name = flexible
                ? RealmName(flexible: app)
                : realm.map({ RealmName(app: app, partition: RealmName.partition(fromText: $0)) })
        {
            guard try await verify(name, try await realms.reader(of: name)) else { throw StoredRealms.missing(name) }
        } else {
            try await realms.forEach(app: app) { record, reader in _ = try await verify(record.name, reader) }
        }
        if sound + unsound == 0, let app {
            throw CommandFailure(.notFound, "there is no realm of app \(app) in the store")
        }
        if !output.json { Printing.note("\((sound + unsound).counted("realm")), \(unsound) with faults") }
        if unsound > 0 { throw ExitCode(1) }
    }

    private static func text(of verdict: RealmVerdict) -> String {
        let after = verdict.historyBase > 0 ? " after \(verdict.historyBase)" : ""
        let base = verdict.base.map { ", base \($0)" } ?? ""
        let more = verdict.findingCount - verdict.findings.count
        let lines =
            [
                "\(verdict.isSound ? "ok   " : "FAULT")  \(verdict.app) \(RealmName.shown(verdict.partition))  slice \(verdict.slice)"
                    + "  version \(verdict.version)  \(verdict.entries) in history\(after)\(base)  \(verdict.objects.counted("object"))"
                    + "  \(verdict.clientFiles.counted("client file"))  replay \(verdict.replay.rawValue)"
                    + (verdict.digest.map { "  \($0)" } ?? "")
            ] + verdict.findings.map { "       \($0.check.rawValue): \($0.what.oneLine)" }
            + (more > 0 ? ["       and \(more) more"] : [])
        return lines.joined(separator: "\n")
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
        write(
            "\r\u{1b}[Kverifying \(name.app) \(RealmName.shown(name.partition)): \(percent) % of \(total.counted("byte"))"
        )
    }

    func end() {
        if hasShown { write("\r\u{1b}[K") }
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
