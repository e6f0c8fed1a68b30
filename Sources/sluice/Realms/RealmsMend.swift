import ArgumentParser
import Inspection
import Messages
import SyncModel

struct RealmsMend: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "mend",
        abstract: "Take out of a realm what stock clients cannot apply, which ends them at each launch.",
        discussion: """
            Such are entries of dictionaries whose keys begin with $ or contain a dot, and texts that are not UTF-8; \
            a release before this one took them, and `sluice realms verify` names them (misfits). The entries go for \
            good, the rest of their dictionaries stays; texts are repaired. So that no client is sent the history \
            that has them, every client realm of the realm resets afterwards, onto the mended state. A campaign \
            accounts for each. A large realm takes as long as reading it once, for which its slice stands still.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var realm: RealmOptions
    @OptionGroup var confirmation: ConfirmationOptions
    @Option(help: "Why; shown in the campaign and to the clients.") var reason: String?

    func run(_ settings: ClusterSettings) async throws {
        let name = realm.name
        let verdict = try await RealmVerifier.verify(name, in: try await StoredRealms(settings).reader(of: name))
        guard let verdict else { throw StoredRealms.missing(name) }
        let misfits = verdict.findings.filter { $0.check == .misfits }
        if confirmation.dryRun || misfits.isEmpty {
            let text = misfits.isEmpty ? "nothing to mend" : misfits.map(\.what.oneLine).joined(separator: "\n")
            return try output.show(misfits, text)
        }
        try confirmation.require(
            typed: name.app,
            "mending realm \(RealmName.shown(name.partition)) of app \(name.app), and having its client realms reset,")
        let message = ResetMessage(
            realm: name, clientFile: nil, campaign: nil, reason: reason ?? "the realm was mended", mends: true)
        let options = try EventOptions.parse(output.json ? ["--json"] : [])
        try await EventPublisher(settings: settings, options: options).publishAll {
            Event(message)
        } fromJSON: { _ in
            Event(message)
        }
        if !output.json {
            Printing.note("the id is the campaign's; follow it with: sluice campaigns list --app \(name.app)")
        }
    }
}
