import Logging
import Messages
import Operations
import Storage
import SyncModel
import Views

extension SessionRequests {
    /// A client says which file it is and how far it has come: with every check that docs/protocol.md has.
    ///
    /// A newer session simply takes over; two sessions of one file cannot hurt each other, since uploads name what they
    /// follow.
    func identify(_ request: IdentifyRequest, reply address: ReplyAddress) async throws {
        let name = request.context.realm
        let session = request.context.session
        let app = try await admittance.app(of: name)
        try admittance.requireReading(request.context)
        try await admittance.requireUnchanged(request.user, since: request.context.rights, of: app)
        let context = try await work.unrestartedRealm(name, of: app)
        let ident = request.clientFile.ident
        let standing = context.sessions.standing(of: session)
        switch standing {
        case .ended: return metrics.requestRepeated()
        case .open(let known) where known.clientFile == ident: return metrics.requestRepeated()
        case .open, .unknown: break
        }
        if let (lost, reason) = try await LostFiles(work: work).file(request, in: context) {
            throw try await resets.require(
                of: lost, code: .badClientFileIdent, reason, app: app, in: context, session: session, integrated: nil,
                isNewAttempt: true)
        }
        let file = try await admittance.clientFile(ident, of: app, in: context)
        let check = ClientFileCheck(file: file, generation: context.record.generation)
        if let objection = check.objection(toClient: request.clientFile, of: request.user) {
            throw try await resets.refusal(of: ident, code: objection.code, objection.reason, app: app, in: context)
        }
        if let objection = try await objection(to: request, check, context) {
            return try await requireReset(request, objection, app, check, standing, in: context, to: address)
        }
        var begun = ViewIdentification()
        if context.name.isFlexible {
            let views = try work.clientViews(of: file, in: context)
            let questions = context.sessions.questions
            guard try isBelieved(request, views, standing, in: context, to: address) else { return }
            do {
                begun = try await identifyView(request, file, views, of: app, context)
            } catch let pause as LookPause {
                // What the gateway has confirmed it would be asked again.
                context.sessions.questions = questions
                throw pause
            }
        } else if request.download.serverVersion > 0 {
            _ = try await work.begin(file, at: request.download.serverVersion, in: context)
        }
        let now = work.stamp
        let connection = context.sessions.connection(of: session)
        work.change(context).update(ident) {
            $0.lastSeen = max(now, $0.createdAt)
            $0.seenServerVersion = max($0.seenServerVersion, request.download.serverVersion)
            if let connection { $0.connection = connection }
        }
        logger.debug(
            "client identified",
            metadata: .about(
                name, session: session, clientFile: ident,
                [
                    "server_version": "\(context.record.latest.version)",
                    "client_version": "\(file.upload.clientVersion)",
                ]))
        try await inference.observeIdentify(request, in: context)
        try work.reply(
            IdentifiedAnswer(
                generation: context.record.generation, upload: file.upload,
                lockedServerVersion: file.lockedServerVersion, latest: context.record.latest,
                bootstrap: begun.bootstrap, previousSchemaVersion: begun.previousSchema),
            to: address)
        context.sessions.identified(session, as: ident)
    }

    /// Has the client reset once it is certain that the request says how the client is now. Until then nothing is recorded.
    private func requireReset(
        _ request: IdentifyRequest, _ objection: ClientFileCheck.Objection, _ app: AppRecord, _ check: ClientFileCheck,
        _ standing: SessionBook.Standing, in context: RealmContext, to address: ReplyAddress
    ) async throws {
        let file = check.file
        let changesNothing = objection.isOfFile ? try await !inference.hasGoneOn(file, in: context) : false
        guard
            try changesNothing
                || isCertain(
                    request, mayBeOld: !objection.isOfFile && Self.isUncertain(standing, address), objection.reason,
                    in: context, to: address)
        else { return }
        // Before it is refused: that it presents itself says that the client realm goes on under it.
        try await inference.observeIdentify(request, in: context)
        throw try await resets.require(
            of: file, code: objection.code, objection.reason, app: app, in: context, session: request.context.session,
            integrated: check.integrated(at: request.download), isNewAttempt: true, opening: request.schemaVersion)
    }

    /// Whether the client of a flexible realm can be taken to have the subscription set that it names, and nothing that it was sent after that. Taken for
    /// news, an old request would have the client sent changes of objects that it does not hold, and spared others.
    private func isBelieved(
        _ request: IdentifyRequest, _ views: ClientViews, _ standing: SessionBook.Standing,
        in context: RealmContext, to address: ReplyAddress
    ) throws -> Bool {
        guard let said = request.view, views.isTakenBack(by: said, at: request.download.serverVersion)
        else { return true }
        return try isCertain(
            request, mayBeOld: Self.isUncertain(standing, address),
            "since then the client was sent what it does not say it has", in: context, to: address)
    }

    /// Whether a request says how its client is now. If that is not certain its gateway is asked.
    ///
    /// - Parameters:
    ///   - mayBeOld: what else is known speaks for a request that came late.
    ///   - doubt: what would be strange if the request were not an old one.
    /// - Throws: the `Refusal` by which the client tries again, where its gateway was asked too often.
    private func isCertain(
        _ request: IdentifyRequest, mayBeOld: Bool, _ doubt: String, in context: RealmContext, to address: ReplyAddress
    ) throws -> Bool {
        let session = request.context.session
        let verdict = context.sessions.questions.verdict(
            on: session, confirms: request.confirms, mayBeOld: mayBeOld,
            // Exact in any JSON number.
            number: { UInt64.random(in: 1...(1 << 48)) })
        switch verdict {
        case .certain: return true
        case .ask(let question):
            metrics.doubted(app: context.name.app)
            try work.reply(ConfirmAnswer(question: question), to: address)
        case .retry:
            throw Refusal.retry(
                "the request of client file \(request.clientFile.ident) may be an old one: \(doubt)")
        }
        return false
    }

    /// Whether a request may have been overtaken by what its client has done since.
    private static func isUncertain(_ standing: SessionBook.Standing, _ address: ReplyAddress) -> Bool {
        if case .open = standing { return address.isRedelivered }
        return true
    }

    /// Why the client file must reset; nil if it may go on.
    private func objection(
        to request: IdentifyRequest, _ check: ClientFileCheck, _ context: RealmContext
    ) async throws -> ClientFileCheck.Objection? {
        if let objection = check.objection(campaign: try await resets.reason(for: check.file)) {
            return objection
        }
        return check.objection(
            to: request.download, latest: request.latest, current: context.record.latest.version,
            isKept: try await work.isKept(after: request.download.serverVersion, for: check.file, in: context),
            salt: try await salt(of: request.latest.version, context))
    }

    /// Returns the salt of a version; nil if it is not in the history.
    private func salt(of version: ServerVersion, _ context: RealmContext) async throws -> VersionSalt? {
        if version == 0 { return 0 }
        if version == context.record.latest.version { return context.record.latest.salt }
        if let record = context.recent.record(version) { return record.salt }
        return try await store.historyHeading(of: context.historyKey, version: version)?.salt
    }
}
