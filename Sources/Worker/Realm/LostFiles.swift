import Messages
import Storage
import SyncModel

/// Rows for client files that a realm's store has no more, after a restore, an erasure or a very long time, and whose clients
/// come back: so that each reset is accounted for like any other.
struct LostFiles: SlicePart {
    let work: SliceWork

    /// The row for the client file that identifies itself, if it is lost, and what the client is told.
    func file(
        _ request: IdentifyRequest, in context: RealmContext
    ) async throws -> (file: ClientFileRecord, reason: String)? {
        let file = request.clientFile
        guard file.ident >= 2, file.ident < context.record.nextIdent else { return nil }
        if let known = try await work.clientFile(file.ident, in: context) {
            // A session that has ended did not say the salt.
            guard known.file.salt == 0, known.user == request.user else { return nil }
            work.change(context).update(file.ident) { $0.file = file }
            return context.clientFile(file.ident).map { ($0.record, ResetReason.erased) }
        }
        let (at, campaign, reason): (UInt64, String?, String)
        if let erasure = try await work.erasure(of: file.ident, in: context) {
            (at, campaign, reason) = (erasure.at, erasure.campaign, ResetReason.erased)
        } else if context.record.lostIdents.contains(file.ident), let restore = try await work.restore() {
            (at, campaign) = (restore.at, nil)
            reason = "client file \(file.ident) was lost when the server was put back to an earlier state"
        } else {
            (at, campaign, reason) = (work.stamp, nil, "client file \(file.ident) was not seen for too long")
        }
        let connection = context.sessions.connection(of: request.context.session) ?? ""
        return (row(file, of: request.user, on: connection, at: at, campaign: campaign, in: context), reason)
    }

    /// A session has ended, perhaps because its gateway has told it that its realm was erased: what follows shows how its reset
    /// goes. Where there is no realm of the name yet, that is remembered until there is one.
    func observe(_ notice: UnbindNotice) async throws {
        guard let ident = notice.clientFile else { return }
        if let context = try await work.storedRealm(notice.realm) {
            try await observe(notice, of: ident, in: context)
        } else if try await store.erasures(of: notice.realm).contains(where: { $0.idents.contains(ident) }) {
            work.memory.endedWithoutRealm.append(notice)
            if work.memory.endedWithoutRealm.count > Self.maxRemembered { work.memory.endedWithoutRealm.removeFirst() }
        }
    }

    /// Sessions that have ended and are remembered; beyond, the oldest are forgotten, and how their resets go is not inferred.
    private static let maxRemembered = 1_000

    /// The realm is there.
    func recall(in context: RealmContext) async throws {
        let notices = work.memory.endedWithoutRealm.filter { $0.realm == context.name }
        guard !notices.isEmpty else { return }
        work.memory.endedWithoutRealm.removeAll { $0.realm == context.name }
        for notice in notices {
            guard let ident = notice.clientFile else { continue }
            try await observe(notice, of: ident, in: context)
            try await inference.observeUnbind(notice, in: context)
        }
    }

    private func observe(_ notice: UnbindNotice, of ident: FileIdent, in context: RealmContext) async throws {
        guard let erasure = try await work.erasure(of: ident, in: context),
            try await work.clientFile(ident, in: context) == nil
        else { return }
        _ = row(
            ClientFileIdent(ident: ident, salt: 0), of: notice.user, on: notice.connection, at: erasure.at,
            campaign: erasure.campaign, in: context)
    }

    /// - Parameter campaign: has the client reset; nil leaves that to who asks for the row.
    private func row(
        _ file: ClientFileIdent, of user: String, on connection: String, at time: UInt64, campaign: String?,
        in context: RealmContext
    ) -> ClientFileRecord {
        var record = ClientFileRecord(
            realm: context.record.id, file: file, user: user, generation: context.record.generation, createdAt: time,
            lastSeen: time, connection: connection, protocolVersion: 0, userAgent: "")
        context.remember(record)
        guard let campaign else { return record }
        (record.state, record.campaign) = (.resetRequired, campaign)
        work.change(context).update(file.ident) { [record] in $0 = record }
        return record
    }
}
