import Merge
import Storage
import SyncModel

/// The rules by which an owner lets the sessions of a client file in: its row against what the client says. Pure.
struct ClientFileCheck {
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
        do throws(CursorFault) {
            try file.progress.check(download, latest: latest.version, current: current, isKept: isKept)
        } catch {
            return Objection(code: error.code, reason: error.message)
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
