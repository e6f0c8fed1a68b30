import Foundation

/// The end of the demo: how every client realm ended, and what was checked.
struct Report: Encodable {
    struct Client: Encodable {
        var name: String
        var clientFile: UInt64?
        var mode: String
        var outcome: String
        var recovered: Int
        var discarded: Int
        var backupFile: String?
    }

    struct Check: Encodable {
        var name: String
        var holds: Bool
        var detail: String
    }

    var campaign: CampaignCounts
    var clients: [Client] = []
    var checks: [Check] = []
    var converged = false

    var passed: Bool { converged && checks.allSatisfy(\.holds) }

    mutating func check(_ name: String, _ holds: Bool, _ detail: @autoclosure () -> String = "") {
        checks.append(Check(name: name, holds: holds, detail: holds ? "" : ": " + detail()))
    }

}

/// The end of a demo that could not go on: in which step, and why.
struct Failure: Encodable {
    var step: String
    var error: String
}

extension Encodable {
    /// One line of JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

/// The counts of a campaign as `sluice campaigns show --json` has them.
struct CampaignCounts: Codable, Equatable {
    var found: Int
    var notified: Int
    var recovered: Int
    var discarded: Int
    var manual: Int
    var failed: Int
    var superseded: Int
    var pending: Int

    var addsUp: Bool { found == recovered + discarded + manual + failed + superseded + pending }

    var line: String {
        "found \(found)  notified \(notified)  recovered \(recovered)  discarded \(discarded)  manual \(manual)"
            + "  failed \(failed)  superseded \(superseded)  pending \(pending)"
    }
}
