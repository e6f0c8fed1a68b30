import AdminAPI
import ArgumentParser
import NIOHTTP1
import SyncModel

struct ResetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resets",
        abstract: "Show and release resets that wait for an operator.",
        discussion: """
            A slice that would ask many of an app's clients to reset within a minute, without a termination, stops \
            and waits: its store may not be what it was. Look at that first (sluice store show, sluice doctor, \
            sluice realms verify). What a client resets onto is what the slice has now.

              sluice resets list
              sluice resets allow tasks --slice 3
            """,
        subcommands: [ResetsList.self, ResetsAllow.self], defaultSubcommand: ResetsList.self)
}

struct ResetsList: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Slices and apps whose resets wait for an operator.")
    @OptionGroup var common: ReportOptions

    func run(_ admin: AdminClient) async throws {
        let held = try await HeldResets.all(admin)
        try output.show(
            held,
            Table(
                "SLICE", "APP", "ASKED", "OF", "SINCE",
                rows: held.map {
                    [
                        "\($0.slice)", $0.app, "\($0.asked)", "\($0.clientFiles)",
                        Printing.time(ofUnixMilliseconds: $0.since),
                    ]
                }))
    }
}

/// Resets of an app's clients that wait in one slice.
private struct HeldResets: Encodable {
    var slice: SliceNumber
    var app: String
    var asked: Int
    var clientFiles: Int
    var since: UInt64

    static func all(_ admin: AdminClient) async throws -> [HeldResets] {
        let list: SliceList = try await admin.ask(AdminRoute.slices.path())
        return list.slices.flatMap { slice in
            (slice.heldResets ?? []).map {
                HeldResets(
                    slice: slice.slice, app: $0.app, asked: $0.asked, clientFiles: $0.clientFiles, since: $0.since)
            }
        }
    }
}

struct ResetsAllow: AdminCommand {
    static let configuration = CommandConfiguration(
        commandName: "allow", abstract: "Let an app's clients reset, however many they are.",
        discussion: "Says first how many wait, and wants the app's id typed, or --yes.")
    @OptionGroup var common: ReportOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Argument(help: "The app's id.", completion: .apps) var app: String
    @Option(help: "Only in this slice; in every slice if left out.") var slice: Int?
    @Option(help: "For so many minutes, up to 1,440.") var minutes = 60

    func run(_ admin: AdminClient) async throws {
        guard (1...1_440).contains(minutes) else {
            throw CommandFailure(.badInput, "--minutes: expected 1 to 1440, found \(minutes)")
        }
        if confirmation.dryRun || !confirmation.yes {
            let held = try await HeldResets.all(admin).filter {
                $0.app == app && (slice == nil || $0.slice.value == slice)
            }
            let asked = held.reduce(0) { $0 + $1.asked }
            let text = "\(asked.counted("client")) of app \(app) in \(held.count.counted("slice"))"
            if confirmation.dryRun { return try output.show(held, "dry run: \(text) would reset, and those that come") }
            try confirmation.require(typed: app, "letting clients reset (\(text) wait for it)")
        }
        let allowed: AllowedResetsDocument = try await admin.ask(
            AdminRoute.allowResets.path(app), .POST,
            body: AllowResetsRequest(slice: slice.map { SliceNumber($0) }, seconds: UInt64(minutes) * 60))
        try output.show(
            allowed,
            "clients of \(allowed.app) may reset for \(allowed.seconds / 60) min in "
                + (slice.map { "slice \($0)" } ?? "all \(allowed.slices.count.counted("slice"))"))
    }
}
