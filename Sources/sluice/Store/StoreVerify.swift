import ArgumentParser
import Inspection
import Storage
import SyncModel

/// Verifies realms as `sluice realms verify` does, in this process: of a store whose cluster does not run, such as one that was just restored.
struct StoreVerify: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check realms' histories against their states, also where no coordinator runs.",
        discussion: """
            As sluice realms verify, but this command reads the store itself: beside a running cluster, or of a \
            store that no cluster runs on, such as a backup that was just restored.

            Exit codes: 0 all sound, 1 something is wrong, others as usual.
            """)
    @OptionGroup var common: ReportOptions
    @OptionGroup var wanted: VerifyOptions

    func run(_ settings: ClusterSettings) async throws {
        try wanted.check()
        let realms = try await StoredRealms(settings)
        let verdicts = VerdictPrinter(wanted, output)
        if let name = wanted.name {
            let verdict = try await verify(name, in: try await realms.reader(of: name))
            guard let verdict else { throw StoredRealms.missing(name) }
            try verdicts.show(verdict)
        } else {
            try await realms.forEach(app: wanted.app) { record, reader in
                if let verdict = try await verify(record.name, in: reader) { try verdicts.show(verdict) }
            }
        }
        try verdicts.finish()
    }

    /// - Returns: nil if there is no such realm.
    private func verify(_ name: RealmName, in reader: any SliceReader) async throws -> RealmVerdict? {
        let progress = VerifyProgress(name)
        defer { progress.end() }
        return try await RealmVerifier.verify(name, in: reader) { progress.show($0, of: $1) }
    }
}
