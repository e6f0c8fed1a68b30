import AdminAPI
import SyncModel

/// What an operator should look at first, in words. Pure.
enum Health {
    /// How far behind a slice may be (milliseconds) before that is worth a look.
    static let patience: UInt64 = 30_000
    /// How far a clock may be from the coordinator's (seconds) before that is worth a look; `SluiceClockOff` says the same.
    static let clockPatience = 2.0
    /// Names that one finding gives; of more it says how many.
    static let named = 5

    /// Completes a picture with what its figures and the slices say.
    ///
    /// - Parameters:
    ///   - storeObstacle: what keeps the control store from answering; nil if nothing does.
    ///   - processes: what the processes have said of themselves.
    ///   - clocks: how far the clocks of processes are from the coordinator's, in seconds.
    static func describe(
        _ picture: inout OverviewDocument, _ slices: [SliceDocument], isBrokerUp: Bool, storeObstacle: String? = nil,
        processes: [ProcessDocument] = [], clocks: [String: Double] = [:]
    ) {
        let now = picture.at
        let ownerless = slices.filter { $0.owner == nil }
        let behind = slices.filter { ($0.age(at: now) ?? 0) > patience }
        var findings: [OverviewDocument.Finding] = []
        func find(_ level: OverviewDocument.Finding.Level, _ text: String, page: String, alert: String) {
            findings.append(.init(level, text, page: page, alert: alert))
        }
        if !isBrokerUp {
            find(.fault, "the broker is away, or blocks publishers", page: "doctor", alert: "SluiceBrokerAway")
        }
        if let storeObstacle {
            find(.fault, "the store is away: \(storeObstacle)", page: "doctor", alert: "SluiceStoreAway")
        }
        if !ownerless.isEmpty {
            let what = ownerless.count.counted("slice has no owner", "slices have no owner")
            find(
                .fault, "\(what): \(names(ownerless.map(\.slice)))", page: "slices", alert: "SluiceSliceWithoutOwner")
        }
        if !behind.isEmpty {
            let what = behind.count.counted("slice is", "slices are")
            find(
                .warning, "\(what) behind by more than \(patience / 1000) s: \(names(behind.map(\.slice)))",
                page: "slices", alert: "SluiceSliceBehind")
        }
        let held = Set(slices.flatMap { $0.heldResets ?? [] }.map(\.app)).sorted()
        if !held.isEmpty {
            find(
                .warning, "resets of \(held.prefix(named).joined(separator: ", ")) wait for your permission",
                page: "apps", alert: "SluiceResetsHeld")
        }
        // Without the broker nobody is heard, and without the store nobody is ready: then that is what to look at.
        if isBrokerUp {
            findings += troubled(processes, isStoreUp: storeObstacle == nil) + wrong(clocks)
        }
        if let letters = picture.deadLetters, letters > 0 {
            find(.warning, letters.counted("dead letter"), page: "dead-letters", alert: "SluiceDeadLetters")
        }
        picture.findings = findings
        guard isBrokerUp else {
            (picture.slicesServed, picture.oldest, picture.waiting) = (nil, nil, nil)
            picture.sentence = "the broker is away: how slices and queues stand is not known"
            return
        }
        let served = slices.count - ownerless.count
        picture.slicesServed = served
        picture.oldest = slices.compactMap { $0.age(at: now) }.max()
        picture.waiting = slices.reduce(0) { $0 + $1.waiting }
        picture.sentence = sentence(picture, served: served)
    }

    /// Processes that are silent, or say that something keeps them from being ready, in their own words.
    private static func troubled(_ processes: [ProcessDocument], isStoreUp: Bool) -> [OverviewDocument.Finding] {
        var findings: [OverviewDocument.Finding] = []
        let silent = processes.filter { $0.state == .silent }.map { "\($0.role.rawValue) \($0.id)" }
        if !silent.isEmpty {
            let text = "\(some(silent)) \(silent.count == 1 ? "is" : "are") silent, and did not say goodbye"
            findings.append(.init(.warning, text, page: "processes", alert: "SluiceProcessDown"))
        }
        // What coordinators lack is among the other findings.
        let unready = processes.filter { $0.state == .notReady && $0.role != .coordinator }
        guard isStoreUp, let first = unready.first else { return findings }
        let rest = unready.count > 1 ? ", and \((unready.count - 1).counted("other")) likewise" : ""
        let why = first.notReady?.first.map { ": \($0)" } ?? ""
        findings.append(
            .init(
                .warning, "\(first.role.rawValue) \(first.id) is not ready\(rest)\(why)", page: "processes",
                alert: "SluiceNotReady"))
        return findings
    }

    private static func wrong(_ clocks: [String: Double]) -> [OverviewDocument.Finding] {
        let wrong = clocks.filter { abs($0.value) > clockPatience }.sorted { $0.key < $1.key }
        guard !wrong.isEmpty else { return [] }
        let text = some(wrong.map { "\($0.key) (\(Int($0.value.rounded())) s)" })
        return [
            .init(
                .warning, "clocks are off from the coordinator's: \(text)", page: "doctor", alert: "SluiceClockOff")
        ]
    }

    private static func sentence(_ picture: OverviewDocument, served: Int) -> String {
        var parts: [String] = []
        if served == picture.slices {
            parts.append(picture.slices == 1 ? "the one slice is served" : "all \(picture.slices) slices served")
        } else {
            parts.append("\(served) of \(picture.slices.counted("slice")) served")
        }
        parts.append(picture.oldest.map { "oldest message \(duration($0))" } ?? "no message waits")
        switch picture.campaignsRunning {
        case nil: parts.append("campaigns not known")
        case 0?: parts.append("no campaign running")
        case let count?: parts.append(count.counted("campaign") + " running")
        }
        return parts.joined(separator: ", ")
    }

    static func duration(_ milliseconds: UInt64) -> String {
        switch milliseconds {
        case ..<10_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
        case ..<120_000: "\(milliseconds / 1000) s"
        case ..<7_200_000: "\(milliseconds / 60_000) min"
        default: "\(milliseconds / 3_600_000) h"
        }
    }

    private static func names(_ slices: [SliceNumber]) -> String { some(slices.map(\.description)) }

    private static func some(_ names: [String]) -> String {
        names.prefix(named).joined(separator: ", ") + (names.count > named ? " ..." : "")
    }
}
