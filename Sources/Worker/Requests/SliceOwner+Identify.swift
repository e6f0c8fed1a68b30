import Messages
import Storage

extension SliceOwner {
    /// A client says which file it is and how far it has come: every check of sync-protocol.md 6.3.
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
                code: 208, "client file \(ident) does not exist here", app: app, clientFile: ident, campaign: nil)
            return try refuse(name, session, refusal, to: address)
        }
        // Whoever does not know the salt is not this client: its row stays as it is.
        guard file.file.salt == request.clientFile.salt else {
            let refusal = Refusal.reset(
                code: 211, "the salt of client file \(ident) is another one", app: app, clientFile: ident, campaign: nil
            )
            return try refuse(name, session, refusal, to: address)
        }
        guard file.user == request.user else {
            let refusal = Refusal.reset(
                code: 223, "client file \(ident) belongs to another user", app: app, clientFile: ident, campaign: nil)
            return try refuse(name, session, refusal, to: address)
        }
        if let (code, reason) = try await objection(to: request, file, context) {
            // Told by its cursors alone, a request that comes a second time looks like a client that has lost its memory:
            // it has gone on since. A reset would be for nothing; the client asks again if it still wants to know.
            if file.state == .live, file.generation == context.record.generation,
                Self.isUncertain(standing, address)
            {
                return try refuse(
                    name, session, .retry("the request of client file \(ident) may be an old one: \(reason)"),
                    to: address)
            }
            // Before it is refused: that it presents itself says that the client realm goes on under it.
            try await observeIdentify(request, in: context)
            return try await refuseForReset(
                context, session, code: code, reason, app: app, file: file, isNewAttempt: true, to: address)
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

    /// Whether a request may have been overtaken by what its client has done since.
    private static func isUncertain(_ standing: SessionBook.Standing, _ address: ReplyAddress) -> Bool {
        if case .open = standing { return address.isRedelivered }
        return true
    }

    /// Why the client file must reset; nil if it may go on.
    private func objection(
        to request: IdentifyRequest, _ file: ClientFileRecord, _ context: RealmContext
    ) async throws -> (code: Int, reason: String)? {
        switch file.state {
        case .resetRequired: return (208, try await reason(for: file))
        case .superseded: return (208, "client file \(file.ident) was replaced by a reset")
        case .expired: return (222, "client file \(file.ident) was not seen for too long")
        case .live: break
        }
        guard file.generation == context.record.generation else { return (208, ResetReason.termination) }
        let download = request.download
        let latest = request.latest
        let current = context.record.latest.version
        if download.serverVersion < file.upload.serverVersion {
            return (209, "download cursor \(download.serverVersion) lies before what the client has uploaded on")
        }
        guard try await isKept(after: download.serverVersion, for: file, in: context) else {
            return (222, "the history after server version \(download.serverVersion) is compacted")
        }
        if download.clientVersion > file.upload.clientVersion {
            return (210, "client version \(download.clientVersion) was never integrated")
        }
        guard download.serverVersion <= latest.version, latest.version <= current else {
            return (209, "server version \(latest.version) does not exist; the latest is \(current)")
        }
        if try await salt(of: latest.version, context) != latest.salt {
            return (211, "server version \(latest.version) has another salt: the history has diverged")
        }
        return nil
    }

    /// What a version was salted with; nil if it is not in the history.
    private func salt(of version: UInt64, _ context: RealmContext) async throws -> UInt64? {
        if version == 0 { return 0 }
        if version == context.record.latest.version { return context.record.latest.salt }
        if let record = context.recent.record(version) { return record.salt }
        return try await store.historyHeading(of: context.historyKey, version: version)?.salt
    }
}
