import AdminAPI
import ArgumentParser
import Foundation
import Inspection
import Storage
import SyncModel

struct RealmsVerify: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check realms' histories against their states.",
        discussion: """
            Replays each history from nothing and compares what it makes with the stored state, object by object; \
            checks that versions, salts and byte counts go on without a gap, that client files' progress lies within \
            the history, and that reciprocals lie within their window. Where a history was compacted, its newest \
            base and what follows are replayed, as a new client gets them.

            The coordinator reads each realm in one read transaction. Its memory is bounded; large realms are \
            replayed into a temporary folder of about their history's size (TMPDIR, else /var/tmp). Where no \
            coordinator runs: sluice store verify.

            Exit codes: 0 all sound, 1 something is wrong, others as usual.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: VerifyOptions

    private struct Progress: Decodable {
        var app: String
        var partition: String
        var done: UInt64
        var of: UInt64
    }

    func run(_ admin: AdminClient) async throws {
        try wanted.check()
        // The first coordinator that answers is asked.
        let _: ClusterDocument = try await admin.ask(AdminRoute.cluster.path())
        let path = AdminRoute.realmsVerification.path(
            query: [
                (.app, wanted.app), (.partition, wanted.realm), (.flexible, wanted.flexible ? "true" : nil),
            ])
        let verdicts = VerdictPrinter(wanted, output)
        var progress: VerifyProgress?
        try await admin.follow(path) { event in
            switch event.name {
            case "progress":
                let step = try JSONDecoder().decode(Progress.self, from: Data(event.data))
                let name = RealmName(app: step.app, partition: step.partition)
                if progress?.name != name { progress = VerifyProgress(name) }
                progress?.show(step.done, of: step.of)
                return true
            case "verdict":
                progress?.end()
                progress = nil
                try verdicts.show(try JSONDecoder().decode(RealmVerdict.self, from: Data(event.data)))
                return true
            case "error":
                let problem = try? JSONDecoder().decode(AdminProblem.self, from: Data(event.data))
                throw CommandFailure(
                    problem?.error == "store_unavailable" ? .tryAgain : .internalError,
                    problem?.message ?? "the verification ended")
            default: return event.name != "end"
            }
        }
        try verdicts.finish()
    }
}

/// The realms that are verified.
struct VerifyOptions: ParsableArguments {
    @Option(help: "Only this app's.", completion: .apps) var app: String?
    @Option(help: "With --app: only this realm.") var realm: String?
    @Flag(help: "With --app: only its flexible realm.") var flexible = false
    @Flag(help: "Every realm of every app.") var all = false
    @Flag(help: "Print only what is wrong.") var faults = false

    func check() throws {
        guard all != (app != nil) else {
            throw CommandFailure(.badInput, "give --app, --app and --realm, or --all")
        }
        guard (realm == nil && !flexible) || app != nil else {
            throw CommandFailure(.badInput, "--realm and --flexible need --app")
        }
        guard realm == nil || !flexible else {
            throw CommandFailure(.badInput, "--flexible is the realm without a partition: leave --realm out")
        }
    }

    /// The one realm; nil for all of the app, or of all apps.
    var name: RealmName? {
        guard let app else { return nil }
        if flexible { return RealmName(flexible: app) }
        return realm.map { RealmName(app: app, partition: RealmName.partition(fromText: $0)) }
    }
}

/// Prints what was found of realms as it comes, and says at the end how many there were.
final class VerdictPrinter {
    private let wanted: VerifyOptions
    private let output: OutputOptions
    private var (sound, unsound) = (0, 0)

    init(_ wanted: VerifyOptions, _ output: OutputOptions) {
        self.wanted = wanted
        self.output = output
    }

    func show(_ verdict: RealmVerdict) throws {
        if verdict.isSound { sound += 1 } else { unsound += 1 }
        if !wanted.faults || !verdict.isSound { try output.show(verdict, Self.text(of: verdict)) }
    }

    /// - Throws: exit code 1 if something is wrong, `notFound` for an app without realms.
    func finish() throws {
        if sound + unsound == 0, let app = wanted.app {
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
    let name: RealmName
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
