import Foundation

/// The one table that a run ends with.
struct FireReport: Codable {
    var seed: UInt64
    var seconds: Int
    var faults: [String: Int] = [:]
    /// Faults that this machine does not allow, with the reason.
    var leftOut: [String] = []
    /// The outages by kind of fault, where one fault is over before the next begins.
    var outages: [String: Outage] = [:]
    var unexpectedEnds = 0
    /// Queues that the broker could not bring up after a crash of its own, and that were deleted as an operator would.
    var queuesDeleted = 0
    var clients = 0
    var attempted = 0
    var acknowledged = 0
    var late = 0
    var lost = 0
    var duplicated = 0
    var diverged = 0
    var resetsFound = 0
    var resetsAccounted = 0
    var resetsUnaccounted = 0
    var deadLetters = 0
    /// The clients of the app in flexible mode, whose changes are among the others.
    var viewClients = 0
    var queryChanges = 0
    var roleChanges = 0
    /// Backends that write documents, whose writes are among the changes, and those that follow the apps' changes.
    var writers = 0
    var followers = 0
    /// Writes that were answered as written before.
    var writesRepeated = 0
    var changesFollowed = 0
    /// Changes that were told again.
    var changesRepeated = 0
    /// How often those who follow found that a change was missing, and read the realm anew.
    var gapsClosed = 0
    /// Realms of which the replayed changes are not what a copy has.
    var feedsDiverged = 0
    /// Objects of which clients heard that a write was undone.
    var undone = 0
    /// What is wrong, in words; empty after a good run.
    var findings: [String] = []

    var passed: Bool { findings.isEmpty }

    var table: String {
        let rows: [(String, String)] = [
            ("seed", "\(seed)"), ("seconds under fire", "\(seconds)"),
            ("faults", faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")),
            ("faults left out", leftOut.isEmpty ? "none" : leftOut.joined(separator: "; ")),
            ("processes that ended by themselves", "\(unexpectedEnds)"),
            ("queues the broker broke", "\(queuesDeleted)"), ("client realms", "\(clients)"),
            ("changes attempted", "\(attempted)"), ("changes acknowledged", "\(acknowledged)"),
            ("changes recovered late (over 10 s)", "\(late)"), ("changes lost", "\(lost)"),
            ("changes duplicated", "\(duplicated)"), ("client realms diverged", "\(diverged)"),
            ("resets found", "\(resetsFound)"), ("resets accounted", "\(resetsAccounted)"),
            ("resets unaccounted", "\(resetsUnaccounted)"), ("dead letters", "\(deadLetters)"),
            ("client realms in flexible mode", "\(viewClients)"), ("changes of their queries", "\(queryChanges)"),
            ("changes of their roles", "\(roleChanges)"), ("objects of which writes were undone", "\(undone)"),
            ("backends that write", "\(writers)"), ("their writes that came again", "\(writesRepeated)"),
            ("backends that follow changes", "\(followers)"), ("changes followed", "\(changesFollowed)"),
            ("changes told again", "\(changesRepeated)"),
            ("missing changes found and read", "\(gapsClosed)"), ("replayed feeds diverged", "\(feedsDiverged)"),
        ]
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { $0.0.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $0.1 }
        return (lines + outageLines).joined(separator: "\n")
    }

    private var outageLines: [String] {
        guard !outages.isEmpty else { return [] }
        return ["", "fault         times  longest fault  longest wait for an acknowledgement"]
            + outages.sorted { $0.key < $1.key }.map { kind, outage in
                kind.padding(toLength: 14, withPad: " ", startingAt: 0)
                    + String(format: "%5d  %11.1f s  %33.1f s", outage.times, outage.longestFault, outage.longestWait)
            }
    }
}
