import Messages
import Storage

extension SliceOwner {
    /// A page of history for a session that is behind.
    func page(_ request: PageRequest, reply address: ReplyAddress) async throws {
        let name = request.context.realm
        let session = request.context.session
        guard let app = try await settings(of: name.app) else {
            return try refuse(name, session, .unknownApp(name.app), to: address)
        }
        let context = try await realm(name, of: app)
        guard let file = try await clientFile(request.clientFile, in: context) else {
            let refusal = Refusal.reset(
                code: 208, "client file \(request.clientFile) does not exist here", app: app,
                clientFile: request.clientFile, campaign: nil)
            return try refuse(name, session, refusal, to: address)
        }
        let generation = context.record.generation
        guard file.state == .live, file.generation == generation else {
            return try await refuseForReset(
                context, session, code: 208, "sync was terminated", app: app, file: file, to: address)
        }
        guard request.generation == generation else {
            let refusal = Refusal.retry("the session belongs to another sync generation")
            return try refuse(name, session, refusal, to: address)
        }
        let latest = context.record.latest
        guard request.after.serverVersion >= context.record.historyBase, request.after.serverVersion <= latest.version
        else {
            return try await refuseForReset(
                context, session, code: 209, "download cursor \(request.after.serverVersion) is not in the history",
                app: app, file: file, to: address)
        }
        let answer = try await answer(to: request, file, context)
        if request.isMark, answer.isComplete {
            try await observe(.marked, of: file.ident, campaign: nil, in: context)
        }
        try reply(answer, to: address)
    }

    /// One read of bounded size: it may hold nothing for this client, and still moves the cursor.
    private func answer(
        to request: PageRequest, _ file: ClientFileRecord, _ context: RealmContext
    ) async throws -> PageAnswer {
        let latest = context.record.latest
        let budget = min(max(request.maxBytes, 1), limits.maxPageBytes)
        let records = try await history(
            of: context, after: request.after.serverVersion, through: latest.version, maxBytes: budget)
        var cursor = request.after
        var entries: [HistoryEntry] = []
        for record in records {
            guard record.version == cursor.serverVersion + 1 else {
                throw WorkerError(
                    .corrupt, "realm \(context.name) has no version \(cursor.serverVersion + 1) in its history")
            }
            cursor.serverVersion = record.version
            if record.originFile == file.ident {
                cursor.clientVersion = max(cursor.clientVersion, record.clientVersion)
            } else if !record.changeset.isEmpty {
                // To its receiver an entry tells what of the receiver's own was integrated before it (its merge needs
                // that), not the author's version.
                var entry = HistoryEntry(record)
                entry.clientVersion = cursor.clientVersion
                entries.append(entry)
            }
        }
        if records.isEmpty, cursor.serverVersion < latest.version {
            throw WorkerError(
                .corrupt, "realm \(context.name) has no version \(cursor.serverVersion + 1) in its history")
        }
        let covered = records.last?.cumulativeBytes ?? context.record.historyBytes
        return PageAnswer(
            generation: context.record.generation, after: request.after, entries: entries, download: cursor,
            latest: latest, upload: file.upload,
            downloadableBytes: context.record.historyBytes > covered ? context.record.historyBytes - covered : 0)
    }
}
