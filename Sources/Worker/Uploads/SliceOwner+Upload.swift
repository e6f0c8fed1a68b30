import AMQP
import Changesets
import Merge
import Messages
import RealmState
import Storage
import SyncModel

extension SliceOwner {
    /// Integrates one UPLOAD: all of its new changesets, or none.
    func integrate(
        _ message: ChangesetMessage, _ upload: ChangesetMessage.Upload, _ original: AMQPMessage
    ) async throws {
        guard try await settings(of: message.realm.app) != nil else {
            throw PoisonError(reason: "app \(message.realm.app) does not exist", app: message.realm.app)
        }
        guard let app = try await admit(message.realm, upload.session, to: nil) else { return }
        let context = try await unrestartedRealm(message.realm, of: app)
        let claim = SessionClaim(
            session: upload.session, clientFile: upload.clientFile, generation: upload.generation)
        guard var file = try await admit(claim, of: app, in: context) else { return }
        if let first = message.entries.first { file = try await begin(file, at: first.serverVersion, in: context) }
        let isInBase = try await base(at: file.upload.serverVersion, of: file, in: context) != nil
        let kept = isInBase ? 0 : context.record.historyBase
        let current = context.record.latest.version
        switch upload.verdict(on: message.entries, file: file, current: current, kept: kept) {
        case .retry(let reason):
            metrics.gap(app: app.id)
            try refuse(context.name, upload.session, .retry(reason))
        case .reset(let code, let reason):
            // An upload that contradicts the row does not say what its client has under the row's numbers.
            try await refuseForReset(
                context, upload.session, code: code, reason, app: app, file: file,
                integrated: code == .clientFileExpired ? file.upload.clientVersion : nil)
        case .integrate(let entries):
            metrics.duplicates(message.entries.count - entries.count, app: app.id)
            do {
                try await integrate(entries, of: upload, from: app, in: context)
            } catch let error as SchemaRefusedError {
                return try refuse(context.name, upload.session, error.refusal)
            } catch let error as BadChangesetError {
                // The realm goes on without it; its author cannot, since what follows builds on it.
                try setAside(original, reason: error.reason, app: app.id, isOnce: true)
                return try await refuseForReset(
                    context, upload.session, code: .badChangeset, error.reason, app: app, file: file,
                    integrated: file.upload.clientVersion)
            }
            metrics.integrated(entries.count, app: app.id)
            try await observe(
                .uploaded(timestamps: entries.map(\.timestamp)), of: file.ident, campaign: nil, in: context)
            if !message.entries.isEmpty, !context.acknowledged.contains(file.ident) {
                context.acknowledged.append(file.ident)
            }
            touch(context)
        }
    }

    /// - Throws: `BadChangesetError` or `SchemaRefusedError` with nothing changed.
    private func integrate(
        _ entries: [UploadedChangeset], of upload: ChangesetMessage.Upload, from app: AppRecord,
        in context: RealmContext
    ) async throws {
        let ident = upload.clientFile
        if !entries.isEmpty {
            let merged = try await merge(try parse(entries, origin: ident), of: ident, in: context)
            try await apply(merged.changesets, in: context) { try await admit($0, from: app) }
            for (entry, changeset) in zip(entries, merged.changesets) {
                append(
                    changeset, origin: ident, clientVersion: entry.clientVersion, timestamp: entry.timestamp,
                    to: context)
            }
            for (version, changeset) in merged.reciprocals {
                let bytes = changeset.encoded()
                _ = context.updateEntry(ident) { $0.setReciprocal(bytes, version: version) }
                pending.reciprocals[context.key(ident), default: [:]][version] = bytes
            }
        }
        advance(upload, in: context)
    }

    private func parse(
        _ entries: [UploadedChangeset], origin: FileIdent
    ) throws -> [IncomingChangeset] {
        try entries.map { entry in
            do {
                return IncomingChangeset(
                    version: entry.clientVersion.rawValue, lastIntegratedLocalVersion: entry.serverVersion.rawValue,
                    originTimestamp: entry.timestamp.rawValue, originFileIdent: origin.rawValue,
                    changeset: try Changeset(parsing: entry.changeset))
            } catch {
                throw BadChangesetError(reason: "changeset of client version \(entry.clientVersion): \(error)")
            }
        }
    }

    /// Applies changesets in order, or none of them.
    ///
    /// - Parameter admit: throws if the schema may not change as it has.
    func apply(
        _ changesets: [Changeset], in context: RealmContext, admitting admit: (SchemaChange) async throws -> Void
    ) async throws {
        let before = context.state.schema
        context.state.begin()
        do {
            try await load(changesets, into: context)
            // Objects of a class that the changesets make are known not to exist elsewhere.
            for changeset in changesets { try context.state.apply(changeset) }
            if changesets.contains(where: \.declaresSchema) {
                try await admit(SchemaChange(from: before, to: context.state.schema))
            }
        } catch let error as RealmStateError where error.code == .badInstruction {
            context.state.rollback()
            throw BadChangesetError(reason: error.description)
        } catch {
            context.state.rollback()
            throw error
        }
        context.state.commit()
    }

    /// Appends one version to the history, whether or not the merge has left anything of it.
    func append(
        _ changeset: Changeset, origin: FileIdent, clientVersion: ClientVersion, timestamp: SyncTimestamp,
        to context: RealmContext
    ) {
        let bytes = changeset.encoded()
        context.record.latest = SaltedServerVersion(
            version: context.record.latest.version + 1, salt: context.record.salt)
        context.record.historyBytes += UInt64(bytes.count)
        context.isDirty = true
        let entry = HistoryEntry(
            serverVersion: context.record.latest.version, clientVersion: clientVersion, originFile: origin,
            timestamp: timestamp, changeset: bytes)
        let record = HistoryRecord(
            entry, salt: context.record.salt, cumulativeBytes: context.record.historyBytes)
        let touches = Touches(of: CollectionOfOne(changeset))
        context.recent.append(record)
        context.index.append(origin: origin, touches)
        context.digests.append(origin: origin, touches)
        pending.history[context.historyKey, default: []].append(record)
        touch(context)
    }

    /// Moves the client file's cursors to the upload's (docs/merge.md, "Uploads at the server").
    private func advance(_ upload: ChangesetMessage.Upload, in context: RealmContext) {
        let ident = upload.clientFile
        guard let recorded = context.clientFile(ident)?.record.upload else { return }
        let now = stamp
        var mayHaveReciprocals = false
        if upload.progress.clientVersion > recorded.clientVersion,
            upload.progress.serverVersion > recorded.serverVersion
        {
            mayHaveReciprocals =
                context.updateEntry(ident) { $0.dropReciprocals(through: upload.progress.serverVersion) } ?? true
        }
        context.update(ident) {
            $0.lastSeen = now
            $0.lockedServerVersion = max($0.lockedServerVersion, upload.lockedServerVersion)
            guard upload.progress.clientVersion > recorded.clientVersion else { return }
            $0.upload.clientVersion = upload.progress.clientVersion
            $0.upload.serverVersion = max(recorded.serverVersion, upload.progress.serverVersion)
        }
        touch(context)
        guard mayHaveReciprocals else { return }
        pending.reciprocalTrims[context.key(ident)] = upload.progress.serverVersion
    }
}

/// A changeset that cannot be part of its realm's history: it does not parse, merge or apply.
struct BadChangesetError: Error {
    var reason: String
}
