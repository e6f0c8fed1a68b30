import Logging
import Messages
import Operations
import Storage
import SyncModel

/// Decides which events of a realm's traffic belong to which reset, and reports what follows from them.
struct Inference: SlicePart {
    let work: SliceWork

    /// An event about a client file that is old or new in some case.
    ///
    /// - Parameters:
    ///   - campaign: set if the file must reset: a case is then opened if there is none.
    ///   - opensOnly: a case that is open hears nothing of it.
    func observe(
        _ event: ResetEvent, of ident: FileIdent, campaign: String?, opensOnly: Bool = false, in context: RealmContext
    ) async throws {
        guard let file = try await work.clientFile(ident, in: context) else { return }
        if let campaign {
            // The client realm is the old ident's, whose case is open already.
            guard try await !isUnfinishedCopy(file) else { return }
            let key = context.key(ident)
            if try await resetCase(key) == nil {
                guard case .refused(let connection) = event else { return }
                let mayRecover = try await work.settings(of: context.name.app)?.clientRecovery ?? true
                let opened = ResetCase(
                    name: context.name, user: file.user, identOld: ident, campaign: campaign, connection: connection,
                    mayRecover: mayRecover && !file.mustDiscard, openedAt: work.stamp)
                work.cases.change(opened, of: key)
                return
            }
            if !opensOnly { try await give(event, to: key, in: context) }
        } else if let old = file.resetOf {
            try await give(event, to: context.key(old), in: context)
        }
    }

    func observeBind(_ request: BindRequest, clientFile ident: FileIdent?, in context: RealmContext) async throws {
        let session = request.context.session
        guard let ident else {
            // The session of a reset says its ident only later: the connection tells whose it is.
            for key in try await openCases(of: request.user, in: context)
            where work.cases[key]?.connection == request.connection {
                try await give(.bound(session: session), to: key, in: context)
            }
            return
        }
        guard let (key, isSame) = try await caseAwaitingIdent(request, in: context) else { return }
        work.change(context).update(ident) { $0.resetOf = key.ident }
        if !isSame {
            // The session of the reset comes where the fresh copy was made.
            guard var moved = work.cases[key] else { return }
            moved.connection = request.connection
            work.cases.change(moved, of: key)
        }
        try await give(
            .boundFresh(ident: ident, session: session, isSameConnection: isSame), to: key, in: context)
    }

    func observeIdentify(_ request: IdentifyRequest, in context: RealmContext) async throws {
        try await observe(
            .identified(
                ident: request.clientFile.ident, session: request.context.session,
                clientVersion: request.download.clientVersion),
            of: request.clientFile.ident, campaign: nil, in: context)
    }

    func observeUnbind(_ notice: UnbindNotice, in context: RealmContext) async throws {
        if let ident = notice.clientFile {
            guard let file = try await work.clientFile(ident, in: context) else { return }
            // A live session's error is sent by its gateway: its UNBIND is the first that is heard of it.
            if file.state == .resetRequired, let campaign = file.campaign, notice.isOrderly,
                try await !isUnfinishedCopy(file), try await resetCase(context.key(ident)) == nil
            {
                return try await observe(
                    .refused(connection: notice.connection), of: ident, campaign: campaign, in: context)
            }
            try await observe(.unbound(session: notice.session), of: ident, campaign: nil, in: context)
        } else {
            let isOwnChoice = notice.isOrderly && !notice.wasRefused
            for key in try await openCases(of: notice.user, in: context)
            where work.cases[key]?.connection == notice.connection {
                try await give(.left(session: notice.session, isOwnChoice: isOwnChoice), to: key, in: context)
            }
        }
    }

    /// A client file must reset for a campaign. If it came from a reset that is not accounted for yet, that reset's account
    /// ends here: how it went can no longer be seen. An abandoned fresh copy's own account ends likewise.
    func overtake(_ file: ClientFileRecord, of name: RealmName, by campaign: String) async throws {
        guard let old = file.resetOf else { return }
        let key = ClientFileKey(realm: file.realm, ident: old)
        guard var changed = try await resetCase(key) else { return }
        if changed.hasAbandoned(file.ident) {
            return try work.reportOnce(superseded(file, of: name, campaign: campaign, by: campaign))
        }
        guard changed.identNew == file.ident else { return }
        let before = changed
        let conclusion = changed.take(
            .overtaken(campaign: campaign), at: work.stamp, quiet: limits.quietAfterMark.milliseconds)
        guard changed != before else { return }
        work.cases.change(changed, of: key)
        if let conclusion { try report(conclusion, of: changed) }
    }

    /// Looks at the cases that wait for quiet.
    func settleCases(now: UInt64) async throws {
        for record in try await store.dueResetCases(at: now, limit: 500) {
            guard var settled = readable(record) else { continue }
            let conclusion = settled.take(.tick, at: now, quiet: limits.quietAfterMark.milliseconds)
            work.cases.change(settled, of: record.key)
            if let conclusion { try report(conclusion, of: settled) }
        }
        try await work.flush()
    }

    /// Evidence is not worth a client's session: a case that cannot be read is closed, and nothing more is concluded from it.
    private func readable(_ record: ResetCaseRecord) -> ResetCase? {
        if let found = try? ResetCase(record) { return found }
        logger.error(
            "reset case cannot be read; its outcome stays unknown",
            metadata: ["client_file": "\(record.identOld)", "user": "\(record.user)"])
        var closed = record
        closed.isOpen = false
        closed.dueAt = nil
        work.stage { [closed] in $0.resetCases.append(closed) }
        return nil
    }

    // MARK: Cases

    /// Whether the client file's reset has got further than its being told: then the old ident, presented again, would mean
    /// that it was not carried through.
    func hasGoneOn(_ file: ClientFileRecord, in context: RealmContext) async throws -> Bool {
        guard let known = try await resetCase(context.key(file.ident)) else { return false }
        return known.phase != .notified
    }

    private func resetCase(_ key: ClientFileKey) async throws -> ResetCase? {
        if let known = work.cases[key] { return known }
        guard let record = try await store.resetCase(key), let found = readable(record) else { return nil }
        work.cases.remember(found, of: key)
        return found
    }

    /// Whether the client file is a fresh copy that the client realm which made it does not go on under yet.
    private func isUnfinishedCopy(_ file: ClientFileRecord) async throws -> Bool {
        guard let old = file.resetOf else { return false }
        return try await resetCase(ClientFileKey(realm: file.realm, ident: old))?.isCopying(file.ident) == true
    }

    private func openCases(of user: String, in context: RealmContext) async throws -> [ClientFileKey] {
        let stored = try await work.resets(of: user, in: context).openCases
        for record in stored where work.cases[record.key] == nil {
            work.cases.remember(readable(record), of: record.key)
        }
        return work.cases.open(of: user, in: context.record.id)
    }

    /// The case that a new ident belongs to: one of the same connection, else the latest that could be meant.
    private func caseAwaitingIdent(
        _ request: BindRequest, in context: RealmContext
    ) async throws -> (key: ClientFileKey, isSame: Bool)? {
        let open = try await openCases(of: request.user, in: context).filter { work.cases[$0]?.awaitsIdent == true }
        if let key = open.first(where: { work.cases[$0]?.connection == request.connection }) { return (key, true) }
        // A live session was told by its gateway, and its UNBIND may still be on its way.
        let waiting = try await work.resets(of: request.user, in: context).waiting
        for file in waiting where file.connection == request.connection {
            guard let campaign = file.campaign, try await !isUnfinishedCopy(file),
                try await resetCase(context.key(file.ident)) == nil
            else { continue }
            try await observe(
                .refused(connection: request.connection), of: file.ident, campaign: campaign, in: context)
            return (context.key(file.ident), true)
        }
        return open.first.map { ($0, false) }
    }

    /// The ident that a session's fresh copy was given before, if it is a reset's.
    func identCopied(by request: BindRequest, in context: RealmContext) async throws -> FileIdent? {
        for key in try await openCases(of: request.user, in: context) {
            guard let known = work.cases[key], known.connection == request.connection,
                case .copying(let ident, request.context.session, _) = known.phase
            else { continue }
            return ident
        }
        return nil
    }

    private func give(_ event: ResetEvent, to key: ClientFileKey, in context: RealmContext) async throws {
        guard var changed = try await resetCase(key) else { return }
        let before = changed
        if let old = try await work.clientFile(key.ident, in: context), old.state == .resetRequired,
            let campaign = old.campaign
        {
            changed.move(to: campaign)
        }
        let conclusion = changed.take(event, at: work.stamp, quiet: limits.quietAfterMark.milliseconds)
        guard changed != before else { return }
        work.cases.change(changed, of: key)
        if let conclusion { try report(conclusion, of: changed) }
        try await link(changed, from: before, key: key, in: context)
    }

    /// The old ident is retired once the new one is in use, and back if it was not.
    private func link(
        _ changed: ResetCase, from before: ResetCase, key: ClientFileKey, in context: RealmContext
    ) async throws {
        guard try await work.clientFile(key.ident, in: context) != nil else { return }
        switch changed.phase {
        case .merged(let ident, _, _), .replaced(let ident):
            guard before.phase != changed.phase else { return }
            work.change(context).update(key.ident) {
                $0.state = .superseded
                $0.supersededBy = ident
            }
            for copy in changed.freshCopies ?? [] where changed.hasAbandoned(copy) {
                try await retire(copy, replacedBy: ident, campaign: changed.campaign, in: context)
            }
        case .notified where before.phase != .notified:
            work.change(context).update(key.ident) {
                $0.state = .resetRequired
                $0.supersededBy = nil
            }
        default: return
        }
    }

    /// An abandoned fresh copy that a campaign has found is accounted for: nothing will present its ident again.
    private func retire(
        _ copy: FileIdent, replacedBy ident: FileIdent, campaign: String, in context: RealmContext
    ) async throws {
        guard let file = try await work.clientFile(copy, in: context), file.state == .resetRequired,
            let found = file.campaign
        else { return }
        work.change(context).update(copy) {
            $0.state = .superseded
            $0.supersededBy = ident
        }
        try work.reportOnce(superseded(file, of: context.name, campaign: found, by: campaign))
    }

    /// The report to a campaign that another one has had the client file reset.
    func superseded(
        _ file: ClientFileRecord, of name: RealmName, campaign: String, by other: String
    ) -> OutcomeReport {
        OutcomeReport(
            campaign: campaign, attempt: "\(campaign)/\(file.ident)/superseded", realm: name, user: file.user,
            identOld: file.ident, identNew: file.supersededBy, modeRequested: nil, modeUsed: nil, result: .interrupted,
            supersededBy: other, changesets: nil, backupFile: nil, error: nil, evidence: .inferred, confidence: 1,
            at: clock.now())
    }

    private func report(_ conclusion: ResetCase.Conclusion, of resetCase: ResetCase) throws {
        logger.info(
            "reset outcome inferred",
            metadata: .about(
                resetCase.name, clientFile: resetCase.identOld, campaign: resetCase.campaign,
                ["result": "\(conclusion.result.rawValue)", "confidence": "\(conclusion.confidence)"]))
        metrics.outcome(app: resetCase.name.app)
        try work.reportOnce(resetCase.report(conclusion, at: clock.now()))
    }
}
