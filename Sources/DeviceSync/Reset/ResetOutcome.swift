internal import Foundation
import SyncModel

/// How an attempt at a client reset ended: the body of the report to the server (docs/resets.md, "Outcomes").
struct ResetOutcome: Sendable, Equatable, Codable {
    var attempt: String
    var realm: RealmName
    var identOld: FileIdent
    var identNew: FileIdent?
    var modeRequested: ResetMode
    var modeUsed: ResetMode?
    var result: OutcomeReport.Result
    var changesets: OutcomeReport.Changesets?
    /// The name alone.
    var backupFile: String?
    var error: OutcomeReport.Failure?
    /// Milliseconds of Unix time.
    var at = UInt64(clamping: Int64(Date().timeIntervalSince1970 * 1000))

    /// The same attempt with another result.
    func updated(to result: OutcomeReport.Result) -> ResetOutcome {
        ResetOutcome(
            attempt: attempt, realm: realm, identOld: identOld, identNew: identNew, modeRequested: modeRequested,
            modeUsed: modeUsed, result: result, changesets: changesets, backupFile: backupFile, error: error)
    }
}

extension ResetOutcome {
    init(json: Data) throws { self = try JSONDecoder().decode(ResetOutcome.self, from: json) }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
