import Logging
import Messages
import Operations
import Storage
import SyncModel

/// Has client realms reset: all of an app that is terminated, all of a realm, or one.
struct Resets: SlicePart {
    let work: SliceWork

    /// One client realm, or every one of a realm, must reset. The realm's history goes on as it is.
    func reset(_ message: ResetMessage, messageID: String?) async throws {
        guard let app = try await apps.latest(message.realm.app) else { throw PoisonError.noApp(message.realm.app) }
        if message.isUnasked == true, let ident = message.clientFile {
            return try await reset(ident, ofUnasked: message)
        }
        let campaign = try PoisonError.required(message.campaign ?? messageID, of: "a reset", app: app.id)
        keep(reason: message.reason, of: campaign)
        var generation = try await work.generation(of: app).generation
        // As it is: in one that an app's new generation has not reached yet nobody is live, and a restart would cost as much as
        // it is large.
        let context = try await work.storedRealm(message.realm)?.knowing(app, in: work)
        if let context { generation = max(generation, context.record.generation) }
        let found = FoundCampaign(
            kind: ResetMessage.type, campaign: campaign, app: app.id, generation: generation, reason: message.reason)
        try await work.flush()
        if let context {
            if message.mends == true { try await RealmMending(work: work).mend(context, of: app, campaign: campaign) }
            if let ident = message.clientFile {
                if let file = try await work.clientFile(ident, in: context), file.state == .live {
                    mark([file], in: context, campaign: campaign)
                }
            } else {
                let request = ResetRequest(name: context.name, realm: context.record.id, found: found)
                guard try await !RealmReset(work: work).mark(context, for: request) else { return }
            }
        }
        try await work.flush()
        try await report(found)
    }

    /// One client realm must reset, and nobody has asked for it: its app's account has it.
    private func reset(_ ident: FileIdent, ofUnasked message: ResetMessage) async throws {
        guard let context = try await work.storedRealm(message.realm),
            let file = try await work.clientFile(ident, in: context)
        else { return }
        switch file.state {
        case .live:
            let account = ResetAccount(work: work)
            let campaign = account.today(context)
            mark([file], in: context, campaign: campaign)
            try account.add(file, of: context, to: campaign, reason: message.reason ?? ResetReason.reset)
            metrics.unaskedReset(app: context.name.app)
            try await inference.overtake(file, of: context.name, by: campaign)
            try tell(file, of: context.name, campaign: campaign, reason: message.reason)
        case .resetRequired:
            // The worker that marked the client file may have died before anybody was told.
            guard let campaign = file.campaign else { return }
            try tell(file, of: context.name, campaign: campaign, reason: message.reason)
        case .superseded, .expired: return
        }
    }

    /// Marks client files for a campaign with the next commit.
    func mark(_ files: [ClientFileRecord], in context: RealmContext, campaign: String) {
        for file in files {
            context.remember(file)
            work.change(context).update(file.ident) {
                $0.state = .resetRequired
                $0.campaign = campaign
            }
        }
    }

    /// Has gateways tell the live session of a client file that it must reset.
    func tell(_ file: ClientFileRecord, of name: RealmName, campaign: String, reason: String?) throws {
        let notice = ResetNotice(
            app: name.app, partition: name.partition, slice: slice, generation: file.generation,
            clientFile: file.ident, campaign: campaign, code: .badClientFileIdent,
            message: ResetReason.bounded(reason) ?? ResetReason.reset,
            integrated: file.upload.clientVersion)
        logger.debug(
            "gateways hear of a reset", metadata: .about(name, clientFile: file.ident, campaign: campaign))
        try work.publish(notice, to: ResetNotice.topicKey(app: name.app))
    }

    /// Keeps a campaign's reason with the next commit, for the clients that come later.
    func keep(reason: String?, of campaign: String) {
        guard let text = ResetReason.bounded(reason) else { return }
        work.stage { $0.reasons[campaign] = $0.reasons[campaign] ?? text }
    }
}
