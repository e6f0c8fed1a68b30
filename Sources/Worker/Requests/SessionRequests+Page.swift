import Logging
import Messages
import Operations
import Query
import RealmState
import Storage
import SyncModel
import Views

extension SessionRequests {
    /// A page of history for a session that is behind.
    func page(_ request: PageRequest, reply address: ReplyAddress) async throws {
        let name = request.context.realm
        let session = request.context.session
        guard let app = try await work.settings(of: name.app) else {
            throw Refusal.unknownApp(name.app)
        }
        try admittance.requireReading(request.context)
        let context = try await work.unrestartedRealm(name, of: app)
        let standing = context.sessions.standing(of: session)
        switch standing {
        case .ended: return metrics.requestRepeated()
        case .open(let known) where request.after.serverVersion < known.askedAfter: return metrics.requestRepeated()
        case .open, .unknown: break
        }
        var file = try await admittance.liveFile(
            SessionClaim(clientFile: request.clientFile, generation: request.generation), of: session, app: app,
            in: context)
        try await admittance.requireUnchanged(file.user, since: request.context.rights, of: app)
        let latest = context.record.latest
        let after = request.after.serverVersion
        guard after <= latest.version else {
            throw try await resets.require(
                of: file, code: .badServerVersion,
                "server version \(after) does not exist; the latest is \(latest.version)", app: app, in: context,
                session: session, integrated: nil)
        }
        guard try await work.isKept(after: after, for: file, in: context) else {
            // The session may have asked long ago and come further by notices: only an IDENT tells where a client is, and
            // the next one brings the reset if it must be.
            throw Refusal.retry(
                "the request of client file \(file.ident) may be an old one: version \(after) is compacted")
        }
        let answer: PageAnswer
        if context.name.isFlexible {
            if request.bootstrap?.version != 0 { file = try work.beginFlexible(file, at: after, in: context) }
            if request.bootstrap == nil, try await mustCatchUp(file, from: after, context) {
                metrics.farBehind(app: app.id)
                throw Refusal.farBehind(file.ident)
            }
            let (found, overrun) = try await metering(context, limit: limits.evaluation.stepsPerRequest) { meter in
                let found = try await viewAnswer(to: request, file, of: app, context)
                return (found, request.bootstrap == nil && meter.overrun != nil ? meter.refusal : nil)
            }
            if let overrun { throw tooDear(overrun, for: file, context) }
            guard var view = found else {
                throw try await resets.require(
                    of: file, code: .clientFileExpired,
                    "client file \(file.ident) is too far behind: more than \(limits.maxViewHistoryBytes) bytes of history, or objects whose"
                        + " properties were too large to be kept (\(limits.images.maxValue) bytes) as roles look at them",
                    app: app, in: context, session: session, integrated: file.upload.clientVersion)
            }
            if let known = request.schema, known != context.schemaStamp {
                view.view?.schema = ViewSchema(stamp: context.schemaStamp, body: context.state.schema.encoded())
            }
            answer = view
        } else {
            // Also where there is nothing yet: what comes next goes by its notices, not by a page.
            file = try await work.begin(file, at: after, in: context)
            answer = try await self.answer(to: request, file, context)
        }
        if request.isMark, answer.isComplete, answer.view?.bootstrap == nil {
            try await inference.observe(.marked, of: file.ident, campaign: nil, in: context)
        }
        let bytes = answer.entries.reduce(0) { $0 + $1.changeset.count }
        context.noteMoved(max(0, bytes - max(request.maxBytes, limits.maxPageBytes)))
        logger.debug(
            "page made",
            metadata: .about(
                name, session: session, clientFile: file.ident,
                ["entries": "\(answer.entries.count)", "server_version": "\(answer.download.serverVersion)"]))
        try work.reply(answer, to: address)
        context.sessions.asked(session, after: after)
    }

    /// Makes the refusal of a client whose view takes too much to be followed version by version: what the client has missed comes in
    /// pages, if it can be told so.
    private func tooDear(_ reason: String, for file: ClientFileRecord, _ context: RealmContext) -> Refusal {
        let isKnown = context.flexible.tooDear.contains(file.ident)
        context.flexible.tooDear.insert(file.ident)
        metrics.tooDear(app: context.name.app)
        return file.protocolVersion >= 14 && !isKnown
            ? .farBehind(file.ident) : .applicationBug(.badQuery, reason)
    }

    private func viewAnswer(
        to request: PageRequest, _ file: ClientFileRecord, of app: AppRecord, _ context: RealmContext
    ) async throws -> PageAnswer? {
        if let bootstrap = request.bootstrap {
            return try await FlexibleBootstraps(
                work: work, app: app, context: context, file: file, session: request.context.session
            ).page(
                bootstrap, after: request.after, maxBytes: request.maxBytes)
        }
        return try await FlexiblePages(work: work, context: context, file: file).page(after: request.after)
    }

    /// Makes the next page for the client: of the base that it began with, then of the history. One read of bounded size of each:
    /// it may hold nothing for this client, and still moves the cursor.
    private func answer(
        to request: PageRequest, _ file: ClientFileRecord, _ context: RealmContext
    ) async throws -> PageAnswer {
        let latest = context.record.latest
        let budget = min(max(request.maxBytes, 1), limits.maxPageBytes)
        var cursor = request.after
        var entries: [HistoryEntry] = []
        var bytes = 0
        if let base = try await work.base(at: cursor.serverVersion, of: file, in: context) {
            let records = try await store.history(
                of: base.historyKey, after: cursor.serverVersion, through: base.lastEntry, maxBytes: budget)
            for record in records {
                try advance(&cursor, to: record, of: file, in: context, &entries)
                bytes += record.entry.changeset.count + 32
            }
            let rest = base.bytes &- min(base.bytes, records.last?.cumulativeBytes ?? base.bytes)
            guard records.isEmpty || cursor.serverVersion == base.lastEntry else {
                return PageAnswer(
                    generation: context.record.generation, after: request.after, entries: entries, download: cursor,
                    latest: latest, upload: file.upload,
                    downloadableBytes: rest + remaining(after: base.historyBytes, in: context))
            }
            // A client that has all of the base has the realm as it was at the base's version.
            cursor.serverVersion = base.version
        }
        let isFull = bytes >= budget
        var records: [HistoryRecord] = []
        if !isFull {
            records = try await work.history(
                of: context, after: cursor.serverVersion, through: latest.version, maxBytes: budget - bytes)
        }
        for record in records { try advance(&cursor, to: record, of: file, in: context, &entries) }
        if records.isEmpty, !isFull, cursor.serverVersion < latest.version {
            throw context.lacks(cursor.serverVersion + 1)
        }
        let covered: UInt64
        if let last = records.last {
            covered = last.cumulativeBytes
        } else if let base = try await work.base(at: request.after.serverVersion, of: file, in: context) {
            covered = base.historyBytes
        } else {
            covered = context.record.historyBytes
        }
        return PageAnswer(
            generation: context.record.generation, after: request.after, entries: entries, download: cursor,
            latest: latest, upload: file.upload, downloadableBytes: remaining(after: covered, in: context))
    }

    private func remaining(after covered: UInt64, in context: RealmContext) -> UInt64 {
        context.record.historyBytes > covered ? context.record.historyBytes - covered : 0
    }

    /// Puts a version in the page, unless it says nothing to the client.
    private func advance(
        _ cursor: inout DownloadCursor, to record: HistoryRecord, of file: ClientFileRecord, in context: RealmContext,
        _ entries: inout [HistoryEntry]
    ) throws {
        guard record.version == cursor.serverVersion + 1 else { throw context.lacks(cursor.serverVersion + 1) }
        guard
            cursor.pass(
                record.entry.originFile, record.entry.clientVersion, isEmpty: record.entry.changeset.isEmpty,
                for: file.ident)
        else { return }
        // To its receiver an entry tells what of the receiver's own was integrated before it (its merge needs that), not the
        // author's version.
        var entry = record.entry
        entry.clientVersion = cursor.clientVersion
        entries.append(entry)
    }
}
