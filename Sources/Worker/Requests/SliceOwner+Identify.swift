import Messages
import Storage
import SyncModel

extension SliceOwner {
    /// A client says which file it is and how far it has come: with every check that docs/protocol.md has.
    ///
    /// A newer session simply takes over; two sessions of one file cannot hurt each other, since uploads name what they
    /// follow.
    func identify(_ request: IdentifyRequest, reply address: ReplyAddress) async throws {
        let name = request.context.realm
        let session = request.context.session
        guard let app = try await settings(of: name.app) else {
            return try refuse(name, session, .unknownApp(name.app), to: address)
        }
        if let refusal = Refusal.notEnabled(app, needsClientFile: false) {
            return try refuse(name, session, refusal, to: address)
        }
        let context = try await unrestartedRealm(name, of: app)
        let ident = request.clientFile.ident
        let standing = context.sessions.standing(of: session)
        switch standing {
        case .ended: return metrics.requestRepeated()
        case .open(let known) where known.clientFile == ident: return metrics.requestRepeated()
        case .open, .unknown: break
        }
        guard let file = try await clientFile(ident, in: context) else {
            let refusal = Refusal.reset(
                code: .badClientFileIdent, "client file \(ident) does not exist here", app: app, clientFile: ident,
                campaign: nil)
            return try refuse(name, session, refusal, to: address)
        }
        // Whoever does not know the salt is not this client: its row stays as it is.
        guard file.file.salt == request.clientFile.salt else {
            let refusal = Refusal.reset(
                code: .divergingHistories, "the salt of client file \(ident) is another one", app: app,
                clientFile: ident, campaign: nil
            )
            return try refuse(name, session, refusal, to: address)
        }
        guard file.user == request.user else {
            let refusal = Refusal.reset(
                code: .userMismatch, "client file \(ident) belongs to another user", app: app, clientFile: ident,
                campaign: nil)
            return try refuse(name, session, refusal, to: address)
        }
        if let objection = try await objection(to: request, file, context) {
            return try await refuse(request, objection, app, file, standing, in: context, to: address)
        }
        if request.download.serverVersion > 0 {
            _ = try await begin(file, at: request.download.serverVersion, in: context)
        }
        let now = stamp
        let connection = context.sessions.connection(of: session)
        context.update(ident) {
            $0.lastSeen = now
            $0.seenServerVersion = max($0.seenServerVersion, request.download.serverVersion)
            if let connection { $0.connection = connection }
        }
        touch(context)
        context.sessions.identified(session, as: ident)
        try await observeIdentify(request, in: context)
        try reply(
            IdentifiedAnswer(
                generation: context.record.generation, upload: file.upload,
                lockedServerVersion: file.lockedServerVersion, latest: context.record.latest),
            to: address)
    }

    /// Why a client file may not go on.
    private struct Objection {
        var code: ErrorCode
        var reason: String
        /// The client file has to reset whatever its client says; else its cursors say so.
        var isOfFile = false
    }

    /// Has the client reset once it is certain that the request says how the client is now. Until then nothing is recorded.
    private func refuse(
        _ request: IdentifyRequest, _ objection: Objection, _ app: AppRecord, _ file: ClientFileRecord,
        _ standing: SessionBook.Standing, in context: RealmContext, to address: ReplyAddress
    ) async throws {
        let session = request.context.session
        let changesNothing = objection.isOfFile ? try await !hasGoneOn(file, in: context) : false
        var verdict = ResetQuestions.Verdict.reset
        if !changesNothing {
            verdict = context.sessions.questions.verdict(
                on: session, confirms: request.confirms,
                mayBeOld: !objection.isOfFile && Self.isUncertain(standing, address),
                // Exact in any JSON number.
                number: { UInt64.random(in: 1...(1 << 48)) })
        }
        switch verdict {
        case .reset:
            // Before it is refused: that it presents itself says that the client realm goes on under it.
            try await observeIdentify(request, in: context)
            try await refuseForReset(
                context, session, code: objection.code, objection.reason, app: app, file: file,
                integrated: request.download.fits(file) ? file.upload.clientVersion : nil, isNewAttempt: true,
                to: address)
        case .ask(let question):
            metrics.doubted(app: app.id)
            try reply(ConfirmAnswer(question: question), to: address)
        case .retry:
            try refuse(
                context.name, session,
                .retry("the request of client file \(file.ident) may be an old one: \(objection.reason)"), to: address)
        }
    }

    /// Whether a request may have been overtaken by what its client has done since.
    private static func isUncertain(_ standing: SessionBook.Standing, _ address: ReplyAddress) -> Bool {
        if case .open = standing { return address.isRedelivered }
        return true
    }

    /// Why the client file must reset; nil if it may go on.
    private func objection(
        to request: IdentifyRequest, _ file: ClientFileRecord, _ context: RealmContext
    ) async throws -> Objection? {
        switch file.state {
        case .resetRequired:
            return Objection(
                code: .badClientFileIdent, reason: try await reason(for: file), isOfFile: true)
        case .superseded:
            return Objection(
                code: .badClientFileIdent, reason: "client file \(file.ident) was replaced by a reset", isOfFile: true)
        case .expired:
            return Objection(
                code: .clientFileExpired, reason: "client file \(file.ident) was not seen for too long", isOfFile: true)
        case .live: break
        }
        guard file.generation == context.record.generation else {
            return Objection(code: .badClientFileIdent, reason: ResetReason.termination, isOfFile: true)
        }
        let download = request.download
        let latest = request.latest
        let current = context.record.latest.version
        if download.serverVersion < file.upload.serverVersion {
            return Objection(
                code: .badServerVersion,
                reason: "download cursor \(download.serverVersion) lies before what the client has uploaded on")
        }
        guard try await isKept(after: download.serverVersion, for: file, in: context) else {
            return Objection(
                code: .clientFileExpired,
                reason: "the history after server version \(download.serverVersion) is compacted")
        }
        if download.clientVersion > file.upload.clientVersion {
            return Objection(
                code: .badClientVersion, reason: "client version \(download.clientVersion) was never integrated")
        }
        guard download.serverVersion <= latest.version, latest.version <= current else {
            return Objection(
                code: .badServerVersion,
                reason: "server version \(latest.version) does not exist; the latest is \(current)")
        }
        if try await salt(of: latest.version, context) != latest.salt {
            return Objection(
                code: .divergingHistories,
                reason: "server version \(latest.version) has another salt: the history has diverged")
        }
        return nil
    }

    /// What a version was salted with; nil if it is not in the history.
    private func salt(of version: ServerVersion, _ context: RealmContext) async throws -> VersionSalt? {
        if version == 0 { return 0 }
        if version == context.record.latest.version { return context.record.latest.salt }
        if let record = context.recent.record(version) { return record.salt }
        return try await store.historyHeading(of: context.historyKey, version: version)?.salt
    }
}

extension DownloadCursor {
    /// Whether a client with this cursor is where its row says, or further: then what it has written up to the row's client
    /// version is what was integrated. One that was put back may have given the same numbers to other changes since.
    func fits(_ file: ClientFileRecord) -> Bool {
        serverVersion >= file.upload.serverVersion && clientVersion <= file.upload.clientVersion
    }
}
