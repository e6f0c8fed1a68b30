internal import Foundation
internal import SyncProtocol

/// How an attempt at a client reset ended, as reported to the server (docs/resets.md, "Outcomes").
struct ResetOutcome: Sendable, Equatable {
    enum Result: String, Sendable {
        case recovered, discarded, manualPending, manualHandled, manualAtLaunch, failed, interrupted, notNeeded
    }

    struct Changesets: Sendable, Equatable {
        var unsynced = 0
        var recovered = 0
        var emptied = 0
        var discarded = 0
    }

    var attempt: String
    var app: String
    /// Canonical extended JSON.
    var partition: String
    var identOld: UInt64
    var identNew: UInt64?
    var modeRequested: String
    var modeUsed: String?
    var result: Result
    var changesets: Changesets?
    /// The name alone.
    var backupFile: String?
    var errorName: String?
    var errorMessage: String?
    /// Milliseconds of Unix time.
    var at = UInt64(clamping: Int64(Date().timeIntervalSince1970 * 1000))

    /// The body of the report.
    var text: String {
        var members: [String: JSONValue] = [
            "attempt": .string(attempt),
            "realm": .object(["app": .string(app), "partition": .string(partition)]),
            "identOld": .integer(Int64(clamping: identOld)), "modeRequested": .string(modeRequested),
            "result": .string(result.rawValue), "at": .integer(Int64(clamping: at)),
        ]
        members["identNew"] = identNew.map { .integer(Int64(clamping: $0)) }
        members["modeUsed"] = modeUsed.map { .string($0) }
        members["backupFile"] = backupFile.map { .string($0) }
        if let changesets {
            members["changesets"] = .object([
                "unsynced": .integer(Int64(changesets.unsynced)), "recovered": .integer(Int64(changesets.recovered)),
                "emptied": .integer(Int64(changesets.emptied)), "discarded": .integer(Int64(changesets.discarded)),
            ])
        }
        if let errorName {
            members["error"] = .object(["name": .string(errorName), "message": .string(errorMessage ?? "")])
        }
        return JSONWriter.text(of: .object(members))
    }

    /// The attempt that a report is about.
    static func attempt(of text: String) -> String {
        (try? JSONParser.parse(text))?.objectValue?["attempt"]?.stringValue ?? ""
    }

    /// An earlier report of the same attempt with another result.
    static func updated(_ text: String, to result: Result) -> String? {
        guard var members = (try? JSONParser.parse(text))?.objectValue else { return nil }
        members["result"] = .string(result.rawValue)
        members["at"] = .integer(Int64(Date().timeIntervalSince1970 * 1000))
        return JSONWriter.text(of: .object(members))
    }
}
