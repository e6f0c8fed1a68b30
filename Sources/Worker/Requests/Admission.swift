import Messages
import Storage
import SyncModel

/// The rules by which an owner lets the sessions of a client file in: its row against what the client says. Pure.
struct Admission {
    let file: ClientFileRecord
    /// The sync generation of the realm's history.
    let generation: UInt64

    /// Why a client file may not go on.
    struct Objection: Equatable {
        var code: ErrorCode
        var reason: String
        /// The client file has to reset whatever its client says; else the client's cursors say so.
        var isOfFile = false
    }

    /// The row stays as it is for a client that is not the one that the file was given to.
    func objection(toClient file: ClientFileIdent, of user: String) -> Objection? {
        guard self.file.file.salt == file.salt else {
            return Objection(code: .divergingHistories, reason: "the salt of client file \(file.ident) is another one")
        }
        guard self.file.user == user else {
            return Objection(code: .userMismatch, reason: "client file \(file.ident) belongs to another user")
        }
        return nil
    }

    /// Nil if the file is live and of the realm's generation.
    ///
    /// - Parameter reason: what the clients of the file's campaign are told.
    func objection(campaign reason: String) -> Objection? {
        switch file.state {
        case .resetRequired: return Objection(code: .badClientFileIdent, reason: reason, isOfFile: true)
        case .superseded:
            return Objection(
                code: .badClientFileIdent, reason: "client file \(file.ident) was replaced by a reset", isOfFile: true)
        case .expired:
            return Objection(
                code: .clientFileExpired, reason: "client file \(file.ident) was not seen for too long", isOfFile: true)
        case .live:
            guard file.generation != generation else { return nil }
            return Objection(code: .badClientFileIdent, reason: ResetReason.termination, isOfFile: true)
        }
    }

    /// - Parameters:
    ///   - current: the realm's latest server version.
    ///   - isKept: whether what follows `download` for this file is still there.
    ///   - salt: of the server version that the client takes for the latest; nil if the history does not have it.
    func objection(
        to download: DownloadCursor, latest: SaltedServerVersion, current: ServerVersion, isKept: Bool,
        salt: VersionSalt?
    ) -> Objection? {
        if download.serverVersion < file.upload.serverVersion {
            return Objection(
                code: .badServerVersion,
                reason: "download cursor \(download.serverVersion) lies before what the client has uploaded on")
        }
        guard isKept else {
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
        guard salt == latest.salt else {
            return Objection(
                code: .divergingHistories,
                reason: "server version \(latest.version) has another salt: the history has diverged")
        }
        return nil
    }

    /// The client version up to which what the client has written is what was integrated; nil where that is not certain. A
    /// client with a cursor that does not fit was put back, and may have given the same numbers to other changes since.
    func integrated(at download: DownloadCursor) -> ClientVersion? {
        download.serverVersion >= file.upload.serverVersion && download.clientVersion <= file.upload.clientVersion
            ? file.upload.clientVersion : nil
    }
}

/// What a session's page request or upload is about.
struct SessionClaim {
    var session: SessionReference
    var clientFile: FileIdent
    /// In which the session was identified.
    var generation: UInt64
    /// Where a refusal goes; nil: to the session, unasked.
    var address: ReplyAddress?
}

extension SliceOwner {
    /// An app whose sync is on; nil once the session has been refused.
    func admit(
        _ name: RealmName, _ session: SessionReference, needsClientFile: Bool = false, to address: ReplyAddress?
    ) async throws -> AppRecord? {
        guard let app = try await settings(of: name.app) else {
            try refuse(name, session, .unknownApp(name.app), to: address)
            return nil
        }
        if let refusal = Refusal.notEnabled(app, needsClientFile: needsClientFile) {
            try refuse(name, session, refusal, to: address)
            return nil
        }
        return app
    }

    /// A client file's row; nil once the session has been refused.
    func admit(
        _ ident: FileIdent, _ session: SessionReference, of app: AppRecord, in context: RealmContext,
        to address: ReplyAddress?
    ) async throws -> ClientFileRecord? {
        if let file = try await clientFile(ident, in: context) { return file }
        let refusal = Refusal.reset(
            code: .badClientFileIdent, "client file \(ident) does not exist here", app: app, clientFile: ident,
            campaign: nil)
        try refuse(context.name, session, refusal, to: address)
        return nil
    }

    /// The live row of an identified session's client file; nil once the session has been refused.
    func admit(_ claim: SessionClaim, of app: AppRecord, in context: RealmContext) async throws -> ClientFileRecord? {
        guard let file = try await admit(claim.clientFile, claim.session, of: app, in: context, to: claim.address)
        else { return nil }
        let admission = Admission(file: file, generation: context.record.generation)
        if let objection = admission.objection(campaign: try await reason(for: file)) {
            try await refuseForReset(
                context, claim.session, code: objection.code, objection.reason, app: app, file: file,
                integrated: file.upload.clientVersion, to: claim.address)
            return nil
        }
        guard claim.generation == context.record.generation else {
            let refusal = Refusal.retry("the session belongs to another sync generation")
            try refuse(context.name, claim.session, refusal, to: claim.address)
            return nil
        }
        return file
    }
}
