import Logging
import Messages
import Operations
import Storage
import SyncModel
import SyncProtocol

/// A line of the log on an event of a session, or on an action of its: at level debug what moves the session on, at trace what happens
/// besides. Read one after the other, the lines of a session tell its life (docs/runbook.md, "Following one session").
struct SessionLine {
    var level = Logger.Level.debug
    var message: Logger.Message
    var details: Logger.Metadata = [:]

    init(_ message: Logger.Message, level: Logger.Level = .debug, _ details: Logger.Metadata = [:]) {
        self.message = message
        self.level = level
        self.details = details
    }
}

/// Writes the lines of sessions.
struct SessionLog {
    let logger: Logger

    /// Says what has happened in a session, or what the session has done. Nothing is made for a level that is off.
    func note(_ line: @autoclosure () -> SessionLine?, of session: GatewaySession) {
        guard logger.logLevel <= .debug, let line = line() else { return }
        logger.log(level: line.level, line.message, metadata: Self.about(session.session, session, line.details))
    }

    /// Makes the metadata of a line about a session: `session` as owners name it too, and `socket_session` as the client does.
    ///
    /// - Parameter known: nil where the client speaks of a session that there is none of.
    static func about(
        _ ident: SessionIdent, _ known: GatewaySession?, _ details: Logger.Metadata = [:]
    ) -> Logger.Metadata {
        let details = details.merging(["socket_session": "\(ident)"]) { $1 }
        guard let known else { return details }
        return .about(
            known.context.realm, session: known.context.reference, clientFile: known.clientFile?.ident, details)
    }
}

extension SessionEvent {
    /// Nil for what has a line elsewhere, or needs none.
    var line: SessionLine? {
        switch self {
        case .bind(let needsIdent, _, let replaced):
            SessionLine("client binds", ["new_file": "\(needsIdent)", "replaces": "\(replaced ?? 0)"])
        case .ident(let ident):
            SessionLine(
                "client identifies itself",
                [
                    "client_file": "\(ident.file.ident)", "server_version": "\(ident.download.serverVersion)",
                    "client_version": "\(ident.download.clientVersion)",
                ])
        case .upload(let upload, let bytes):
            SessionLine(
                "client uploads", level: upload.entries.isEmpty ? .trace : .debug,
                [
                    "changesets": "\(upload.entries.count)", "bytes": "\(bytes)",
                    "client_version": "\(upload.progress.clientVersion)",
                ])
        case .beyond(let quota, _, _): SessionLine("client is beyond a quota", ["quota": "\(quota.rawValue)"])
        case .mark(let request): SessionLine("client asks for a mark", level: .trace, ["request": "\(request)"])
        case .query(let set): SessionLine("client asks for a subscription set", ["set": "\(set.version)"])
        case .unbind: SessionLine("client unbinds")
        case .connectionLost: SessionLine("connection is lost")
        case .bound(let answer):
            SessionLine(
                "owner has bound the session",
                ["generation": "\(answer.generation)", "slice": "\(answer.slice)"])
        case .identified(let answer):
            SessionLine(
                "owner knows the client: the session is live",
                [
                    "server_version": "\(answer.latest.version)", "client_version": "\(answer.upload.clientVersion)",
                ])
        case .confirm: SessionLine("owner asks whether the client still waits")
        case .page(let page):
            SessionLine(
                "owner sends a page",
                [
                    "entries": "\(page.entries.count)", "server_version": "\(page.download.serverVersion)",
                    "complete": "\(page.isComplete)",
                ])
        case .refused(let answer, _):
            SessionLine(
                "owner refuses", ["code": "\(answer.code.rawValue)", "reason": "\(answer.message)"])
        case .fanned(let fanned): SessionLine("realm has changed", level: .trace, fanned.notice.details)
        case .viewed(let viewed): SessionLine("realm has changed", level: .trace, viewed.fanned.notice.details)
        case .recent(let stretch):
            SessionLine("recent versions are at hand", level: .trace, ["server_version": "\(stretch.latest)"])
        case .stands(let latest):
            SessionLine("realm has changed elsewhere", level: .trace, ["server_version": "\(latest.version)"])
        case .reset(let notice): SessionLine("owner asks for a reset", ["campaign": "\(notice.campaign)"])
        case .generation(let notice):
            SessionLine("app has a new generation", level: .trace, ["generation": "\(notice.generation)"])
        case .requestFailed(let error): SessionLine("owner does not answer", ["error": "\(error)"])
        case .missed: SessionLine("notices were missed")
        case .published(let number):
            SessionLine("broker has the upload", level: .trace, ["upload": "\(number)"])
        case .publishFailed(let number, let error):
            SessionLine("broker does not take the upload", ["upload": "\(number)", "error": "\(error)"])
        case .linkUp: SessionLine("broker is back")
        case .clientFailed, .violation, .unsendable, .heardOf, .settings, .recovery, .judged, .drained, .tick: nil
        }
    }
}

extension SessionAction {
    /// Nil for what has a line elsewhere, or needs none.
    var line: SessionLine? {
        switch self {
        case .send(.download(let download)), .sendPacked(let download, _):
            SessionLine(
                "client is sent versions",
                [
                    "entries": "\(download.entries.count)",
                    "server_version": "\(download.progress.download.serverVersion)",
                    "acknowledged": "\(download.progress.upload.clientVersion)",
                ])
        case .send(.mark(_, let request)):
            SessionLine("client's mark is answered", level: .trace, ["request": "\(request)"])
        case .send(.ident(_, let file)): SessionLine("client is given a client file", ["client_file": "\(file.ident)"])
        case .sendReset(_, let report): SessionLine("client is told to reset", ["campaign": "\(report.campaign)"])
        case .closeTooLarge(_, let report?):
            SessionLine("client is told to reset", ["campaign": "\(report.campaign)"])
        case .subscribeAndBind: SessionLine("owner is asked to bind")
        case .identify(let request):
            SessionLine("owner is asked whether the client may go on", ["confirms": "\(request.confirms ?? 0)"])
        case .page(let request, _):
            SessionLine("owner is asked for a page", ["after": "\(request.after.serverVersion)"])
        case .publish(let message, let number):
            SessionLine(
                "upload goes to the owner",
                [
                    "upload": "\(number)", "changesets": "\(message.entries.count)",
                    "follows": "\(message.upload?.follows ?? 0)",
                    "client_version": "\(message.upload?.progress.clientVersion ?? 0)",
                ])
        case .reset(let message):
            SessionLine("owner is asked for the client's reset", ["reason": "\(message.reason ?? "")"])
        case .report(let notice):
            SessionLine("owner hears that the session is over", ["orderly": "\(notice.isOrderly)"])
        case .forget: SessionLine("session is over")
        case .send, .closeTooLarge, .follow, .unsubscribe, .claim, .recorded: nil
        }
    }
}

extension IntegratedNotice {
    /// The details of a line about the notice, beside its realm.
    var details: Logger.Metadata {
        ["follows": "\(follows)", "server_version": "\(latest.version)"]
    }
}

extension JSONErrorBody {
    /// Makes the details of a line about the error, beside its session.
    func details(of code: ErrorCode) -> Logger.Metadata {
        ["code": "\(code.rawValue)", "action": "\(action.wireName)", "reason": "\(message)"]
    }
}
