import AMQP
import Logging
import Messages
import Storage
import SyncModel

extension Resets {
    /// Begins an app's next generation here and tells the coordinator whom it reaches.
    ///
    /// Given twice it reports twice, with the same content: the campaign's client files stay listed. Where they are many, marking
    /// and reporting go on between messages (`TerminationRun`).
    func terminate(_ message: TerminationMessage, messageID: String?) async throws {
        guard let app = try await apps.latest(message.app) else { throw PoisonError.noApp(message.app) }
        let campaign = try PoisonError.required(message.campaign ?? messageID, of: "a termination", app: app.id)
        let run = TerminationRun(work: work)
        let underWay = work.memory.terminations[app.id]
        if underWay?.campaign != campaign { try work.requireNoTermination(of: app.id) }
        try await work.flush()
        let current = try await work.generation(of: app)
        var accounted = current
        if let underWay {
            accounted.generation = underWay.generation
        } else if let earlier = try await store.appGeneration(campaign: campaign), earlier.app == app.id {
            accounted = earlier
            if try await run.isLarge(campaign: campaign) {
                try await run.begin(earlier, campaign: campaign, isMarked: true)
            }
        } else if let wanted = message.generation ?? Self.successor(of: current.generation),
            wanted > current.generation, wanted < UInt64(Int64.max)
        {
            accounted = AppGenerationRecord(app: app.id, generation: wanted, campaign: campaign, at: clock.now())
            work.stage { [accounted] in $0.terminations.append(accounted) }
            keep(reason: message.reason, of: campaign)
            // What is in memory of the app's client files is about to be wrong.
            work.memory.realms.forget(app: app.id)
            work.memory.restarts.forget(app: app.id)
            work.memory.generations[app.id] = nil
            let isLarge = try await run.isLarge(app.id)
            if isLarge { try await run.begin(accounted, campaign: campaign, isMarked: false) }
            try await work.flush()
            logger.notice(
                "sync terminated",
                metadata: [
                    "app": "\(app.id)", "campaign": "\(campaign)", "generation": "\(wanted)", "in_steps": "\(isLarge)",
                ])
        } else if let late = message.generation {
            // A later termination came first. Its own generation says which of the two accounts for a client realm.
            accounted.generation = min(late, current.generation)
        }
        if work.memory.terminations[app.id] == nil {
            try await report(
                FoundCampaign(
                    kind: TerminationMessage.type, campaign: campaign, app: app.id, generation: accounted.generation,
                    reason: message.reason))
        }
        let notice = ResetNotice(
            app: app.id, partition: nil, slice: slice, generation: accounted.generation, clientFile: nil,
            campaign: campaign, code: .badClientFileIdent,
            message: ResetReason.bounded(message.reason) ?? ResetReason.termination)
        logger.debug("gateways hear of a reset", metadata: ["app": "\(app.id)", "campaign": "\(campaign)"])
        try work.publish(notice, to: ResetNotice.topicKey(app: app.id))
    }

    private static func successor(of generation: UInt64) -> UInt64? {
        let (next, overflow) = generation.addingReportingOverflow(1)
        return overflow ? nil : next
    }

    /// Reports a campaign's client files in this slice, in chunks of bounded size, and has the sessions of those told that a
    /// reset alone concerns: also when it comes again, since whoever marked them may have died before anybody was told.
    func report(_ campaign: FoundCampaign) async throws {
        let chunks = try await reports(of: campaign.campaign)
        var last: ClientFileKey?
        for chunk in 0..<chunks { last = try await report(campaign, chunk: chunk, of: chunks, after: last) }
    }

    /// Reports the next of a campaign's client files.
    ///
    /// - Returns: the last of them.
    func report(
        _ campaign: FoundCampaign, chunk: Int, of chunks: Int, after last: ClientFileKey?
    ) async throws -> ClientFileKey? {
        let files = try await store.clientFiles(
            campaign: campaign.campaign, after: last, limit: foundPerReport)
        let report = FoundReport(
            kind: campaign.kind, campaign: campaign.campaign, app: campaign.app, slice: slice,
            generation: campaign.generation, reason: campaign.reason, chunk: chunk, chunks: chunks,
            clientRealms: FoundReport.ClientRealm.found(files))
        work.publish(Publication(.outcomes, try AMQPMessage(report)))
        logger.debug(
            "coordinator hears of client files",
            metadata: [
                "app": "\(campaign.app)", "campaign": "\(campaign.campaign)", "client_files": "\(files.count)",
            ])
        for file in files { try await inference.overtake(file.record, of: file.name, by: campaign.campaign) }
        // What was read and changed of their cases must not gather.
        if !work.cases.isEmpty { try await work.flush() }
        if campaign.kind == ResetMessage.type {
            for file in files where file.record.state == .resetRequired {
                try tell(file.record, of: file.name, campaign: campaign.campaign, reason: campaign.reason)
            }
        }
        return files.last?.record.key ?? last
    }
}

extension SlicePart {
    /// Client files that one report to a campaign names.
    var foundPerReport: Int { max(1, limits.maxFoundPerReport) }

    /// Returns the number of reports in which a campaign hears of so many client files; one report tells that there are none.
    func reports(of clientFiles: Int) -> Int { max(1, (clientFiles + foundPerReport - 1) / foundPerReport) }

    func reports(of campaign: String) async throws -> Int {
        reports(of: try await store.countClientFiles(campaign: campaign))
    }
}

/// A campaign, as the reports of its client files name it.
struct FoundCampaign {
    /// The type of the message that asked for it.
    var kind: String
    var campaign: String
    var app: String
    var generation: UInt64
    var reason: String?
}
