import AdminAPI
import Logging
import Messages
import Storage
import SyncModel
import Synchronization

/// Has in the audit log what came through the queues and not by the admin API: terminations and resets that were published, and what
/// shells have done with dead letters.
final class QueueAudit: Sendable {
    /// The sender of what comes by the queues, in the audit log: no admin token has such a name with this method.
    static let sender = "queue"
    static let method = "PUBLISH"
    /// The entries taken in an hour: without a bound, whoever may publish could have the log forget everything else.
    static let perHour = 500
    private static let hour: UInt64 = 3_600_000
    private static let maxText = 1000
    /// The newest entries among which a repetition is looked for: a report comes again only right after a crash.
    private static let reach = 100

    private let store: any AdminStore
    private let clock: WallClock
    private let logger: Logger
    private let written = Mutex<(count: Int, since: UInt64)>((0, 0))

    init(store: any AdminStore, clock: WallClock, logger: Logger) {
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// Makes the entries of campaigns that nobody had recorded, to be written with them: a coordinator that dies in between would find them
    /// recorded the next time. Accounts are the slices' own: nobody has asked for them.
    func entries(of opened: [CampaignRecord]) -> [AuditEntry] {
        opened.compactMap(Self.entry).compactMap { path, text in
            let entry = entry(path, text)
            return mayWrite(at: entry.at) ? entry : nil
        }
    }

    /// Says in the process's log that such campaigns are recorded.
    func tell(of opened: [CampaignRecord]) {
        for (path, text) in opened.compactMap(Self.entry) {
            logger.notice("change by way of a queue", metadata: ["path": "\(path)", "details": "\(text)"])
        }
    }

    func note(_ report: LettersReport) async throws(StoreError) {
        let names = report.letters.prefix(LettersReport.most).map { $0.prefix(40) }.joined(separator: ", ")
        let more = report.count > report.letters.count ? ", ..." : ""
        let text =
            "\(report.count.counted("dead letter")) \(report.action.rawValue) by \(report.by.prefix(200)) "
            + "(its own word) at \(report.at): \(names)\(more)"
        let route: AdminRoute = report.action == .dropped ? .dropLetters : .requeueLetters
        try await write((route.path(), text))
    }

    /// - Returns: nil of a campaign that nobody has asked for.
    private static func entry(of campaign: CampaignRecord) -> (path: String, text: String)? {
        let route: AdminRoute
        switch campaign.kind {
        case .termination: route = .terminate
        case .reset: route = .reset
        case .erasure: route = .eraseRealm
        case .account: return nil
        }
        var text = "campaign=\"\(campaign.id.prefix(100))\", generation=\(campaign.generation)"
        if let reason = campaign.reason { text += ", reason=\"\(reason.prefix(200))\"" }
        return (route.path(campaign.app), text)
    }

    private func write(_ entry: (path: String, text: String)) async throws(StoreError) {
        try await write(self.entry(entry.path, entry.text))
    }

    private func entry(_ path: String, _ text: String) -> AuditEntry {
        AuditEntry(
            at: clock.now(), token: Self.sender, role: .operate, method: Self.method, path: path,
            details: String(text.prefix(Self.maxText)), status: 200)
    }

    private func write(_ entry: AuditEntry) async throws(StoreError) {
        logger.notice(
            "change by way of a queue", metadata: ["path": "\(entry.path)", "details": "\(entry.details ?? "")"])
        guard mayWrite(at: entry.at) else { return }
        let newest = try await store.auditEntries(before: nil, limit: Self.reach)
        let isThere = newest.contains {
            $0.token == Self.sender && $0.path == entry.path && $0.details == entry.details
        }
        guard !isThere else { return }
        _ = try await store.beginAudit(entry, keeping: AuditTrail.most)
    }

    private func mayWrite(at now: UInt64) -> Bool {
        let mayWrite = written.withLock { written in
            if now < written.since || now - written.since >= Self.hour { written = (0, now) }
            written.count = min(written.count + 1, Self.perHour + 1)
            return written.count <= Self.perHour
        }
        if !mayWrite { logger.warning("too many changes by way of queues for the audit log") }
        return mayWrite
    }
}
