import Changesets
import Logging
import Merge
import RealmState
import Storage
import SyncModel
import Views

/// Makes a client's upload part of a flexible realm: what its user may write and could know of. What does not count is undone at its author
/// by a compensating write (docs/architecture.md, "Flexible sync").
struct FlexibleUploads: SlicePart {
    let work: SliceWork
    let app: AppRecord
    let context: RealmContext

    /// Each changeset is judged by what the ones before it have left.
    ///
    /// - Throws: `BadChangesetError`, `SchemaRefusedError`, `FullOfCompensationsError`; what was changed is then to be undone.
    ///   `MergePause`, which says how many changesets stand nevertheless: merging them again would take as long again.
    func integrate(
        _ entries: [(UploadedChangeset, Result<Changeset, ChangesetError>)], of head: UploadHead,
        by file: ClientFileRecord, isAcknowledged: Bool
    ) async throws {
        var record = file
        var views = try work.clientViews(of: file, in: context)
        // Of an upload that has had to wait for its merge the part before is in the books.
        var follows = max(head.follows, record.upload.clientVersion)
        var steps: UInt64 = 0
        for (index, (entry, parsed)) in entries.enumerated() {
            guard !views.isFull else {
                throw FullOfCompensationsError(
                    reason: "client file \(file.ident) has to download what undoes its earlier writes first")
            }
            var changeset: Changeset
            do {
                changeset = try parsed.get()
            } catch {
                throw BadChangesetError(reason: "changeset of client version \(entry.clientVersion): \(error)")
            }
            let home = views.partition.flatMap { PartitionHome($0, of: app, in: context.state.schema) }
            if let home { changeset = home.settling(changeset) }
            let isLast = index == entries.count - 1
            let part = UploadHead(
                follows: follows,
                progress: isLast
                    ? head.progress
                    : UploadCursor(clientVersion: entry.clientVersion, serverVersion: entry.serverVersion),
                lockedServerVersion: isLast ? head.lockedServerVersion : record.lockedServerVersion)
            let outcome: UploadOutcome
            do {
                outcome = try await integrate(entry, changeset, part, record, &views, &steps, home)
            } catch var pause as MergePause {
                pause.integrated = index
                throw pause
            }
            if let settled = outcome.settled { views.settle(settled) }
            finish(outcome, of: record, views, isAcknowledged: isAcknowledged)
            record = context.clientFile(file.ident)?.record ?? record
            follows = entry.clientVersion
        }
        guard entries.isEmpty else { return }
        let outcome = UploadIntegration(head, of: file.ident, changesets: [], recorded: record.progress).outcome
        if let settled = outcome.settled { views.settle(settled) }
        finish(outcome, of: record, views, isAcknowledged: isAcknowledged)
    }

    private func finish(
        _ outcome: UploadOutcome, of file: ClientFileRecord, _ views: ClientViews, isAcknowledged: Bool
    ) {
        let context = work.change(context)
        context.integrated(outcome, of: file.ident, at: work.stamp, isAcknowledged: isAcknowledged)
        let bytes = views.encoded()
        if bytes != file.views { context.update(file.ident) { $0.views = bytes } }
    }

    // MARK: One changeset

    private func integrate(
        _ entry: UploadedChangeset, _ changeset: Changeset, _ head: UploadHead, _ file: ClientFileRecord,
        _ views: inout ClientViews, _ steps: inout UInt64, _ home: PartitionHome?
    ) async throws -> UploadOutcome {
        let base = max(entry.serverVersion, file.historyStart ?? 0, views.views.start ?? 0)
        var judged = try WriteTrial(
            changeset, by: file.ident, base: base, at: context, views: views, tainted: tainted(entry, views))
        judged.judge(with: try await timelines(of: judged, after: base))

        let merge = try judged.selection(of: changeset) { $0 == .merge }
        let incoming = IncomingChangeset(
            version: entry.clientVersion.rawValue, lastIntegratedLocalVersion: base.rawValue,
            originTimestamp: entry.timestamp.rawValue, originFileIdent: file.ident.rawValue, changeset: merge)
        var integration = UploadIntegration(
            head, of: file.ident, changesets: [incoming], recorded: file.progress)
        if !merge.isEmpty {
            // Roles that have changed since may have selected something else.
            var merging = entry
            merging.changeset = merge.encoded()
            let upload = AsideMerge.Upload(
                realm: context.record.id, generation: context.record.generation, clientFile: file.ident,
                recorded: file.progress, head: head, entries: [merging], own: judged.own)
            let run = UploadMerge(work: work, file: file, context: context, upload: upload, spent: steps)
            defer { steps = run.steps }
            integration = try await run.merged([incoming])
        }
        let merged = integration.changesets.first?.changeset ?? merge
        let inserted = try judged.selection(of: changeset) { $0 == .insert || $0 == .ingest }
        let final = try await admitted(merged, inserted, &judged)
        try await apply(final, by: file)
        let images = try apply(final)
        work.change(context).append(
            final, origin: file.ident, clientVersion: entry.clientVersion, timestamp: entry.timestamp, images: images)
        // The client's own copy does not have the partition that was added, and is not sent its own writes.
        if let told = home?.told(of: final), !told.isEmpty {
            let images = try apply(told)
            work.change(context).append(
                told, origin: .server, clientVersion: 0, timestamp: clock.changesetNow, images: images)
        }
        if !judged.resynced.isEmpty {
            try await compensate(judged, entry, &views)
        }
        if !judged.refusedIngests.isEmpty { reportIngests(judged, entry, &views) }
        return integration.outcome
    }

    /// The objects that the client was sent compensating writes about which it had not seen, with the version of the last.
    private func tainted(_ entry: UploadedChangeset, _ views: ClientViews) -> [ObjectAddress: ServerVersion] {
        var tainted: [ObjectAddress: ServerVersion] = [:]
        for compensation in views.compensations where compensation.version > entry.serverVersion {
            for address in compensation.objects { tainted[address] = compensation.version }
        }
        return tainted
    }

    /// What has happened to each of the changeset's objects since a version.
    private func timelines(of trial: WriteTrial, after base: ServerVersion) async throws -> [ObjectAddress:
        ObjectTimeline]
    {
        let schema = context.state.schema
        var slots: [ObjectSlot: ObjectAddress] = [:]
        for address in trial.judged {
            if let table = schema.table(address.className) { slots[ObjectSlot(table.id, address.key)] = address }
        }
        try await work.load(slots.keys, into: context)
        var touches: [ObjectAddress: [ObjectTimeline.Touch]] = [:]
        func add(_ record: HistoryRecord) throws {
            for image in try work.images(of: record, in: context) {
                guard let address = slots[image.slot] else { continue }
                touches[address, default: []].append(
                    .init(
                        version: record.version, isOwn: record.entry.originFile == trial.author,
                        before: image.before))
            }
        }
        if base < context.record.latest.version, !slots.isEmpty {
            var rest = try await TouchSearch(work: work, context: context).versions(
                meeting: trial.touches, after: base, notBy: 0)[...]
            while let next = rest.first {
                if let recent = context.recent.record(next) {
                    try add(recent)
                    rest = rest.dropFirst()
                    continue
                }
                let records = try await store.history(
                    of: context.historyKey, at: rest.prefix(256).prefix { $0 <= context.recent.base },
                    maxBytes: limits.maxWindowBytes)
                guard !records.isEmpty else {
                    throw WorkerError(.corrupt, "realm \(context.name) has no version \(next) in its history")
                }
                for record in records { try add(record) }
                rest = rest.dropFirst(records.count)
            }
            for record in context.drafted where record.version > base { try add(record) }
        }
        return Dictionary(
            uniqueKeysWithValues: trial.judged.map { address in
                (
                    address,
                    ObjectTimeline(
                        base: base, latest: context.record.latest.version, touches: touches[address] ?? [],
                        now: context.state.object(address))
                )
            })
    }

    /// What is left once the roles have had their say, on the objects before and after.
    private func admitted(
        _ merged: Changeset, _ inserted: Changeset, _ judged: inout WriteTrial
    ) async throws -> Changeset {
        var selection = ChangesetSelection()
        do {
            try selection.append(merged)
            try selection.append(inserted)
            let all = selection.changeset
            try await work.load([all], into: context)
            let before = RealmState.addresses(touchedBy: all).reduce(into: [:]) { $0[$1] = context.state.object($1) }
            let refused = try work.change(context).trial(of: all) { judged.admit(all, before: before, after: $0) }
            guard !refused.isEmpty else { return all }
            var rest = ChangesetSelection()
            try rest.append(all) { address, _ in address.map { !refused.contains($0) } ?? true }
            return rest.changeset
        } catch let error as RealmStateError {
            throw error.code == .badInstruction ? BadChangesetError(reason: error.description) : error
        } catch let error as ChangesetError {
            throw BadChangesetError(reason: "\(error)")
        }
    }

    private func apply(_ changeset: Changeset) throws -> BeforeImages? {
        do throws(RealmStateError) {
            return try work.change(context).apply(changeset)
        } catch {
            throw error.code == .badInstruction ? BadChangesetError(reason: error.description) : error
        }
    }

    /// Checks whether the app lets its schema change as a changeset wants.
    private func apply(_ changeset: Changeset, by file: ClientFileRecord) async throws {
        guard changeset.declaresSchema else { return }
        let before = context.state.schema
        let after = try work.change(context).trial(of: changeset) { $0.schema }
        let limit = app.limit(of: .userSchemaElements, by: limits.quotas)
        try await SchemaAdmission(apps: apps).admit(
            SchemaChange(from: before, to: after), of: SchemaAuthor(user: file.user, limit: limit), from: app)
    }

    // MARK: Undoing

    /// Makes the version by which the author is told that writes to asymmetric classes do not count.
    private func reportIngests(_ judged: WriteTrial, _ entry: UploadedChangeset, _ views: inout ClientViews) {
        let refused = judged.refusedIngests
        let timestamp = clock.changesetNow
        work.change(context).append(Changeset(), origin: .server, clientVersion: 0, timestamp: timestamp)
        views.add(
            CompensatingWrite(
                version: context.record.latest.version, clientVersion: entry.clientVersion,
                integrated: entry.clientVersion, timestamp: timestamp, refused: refused, objects: [], changeset: []))
        metrics.denied(app: app.id, reason: "asymmetric")
        logger.notice(
            "writes to asymmetric classes refused",
            metadata: [
                "app": "\(app.id)", "realm": "\(context.name.partition)", "client_file": "\(judged.author)",
                "classes": "\(Set(refused.map(\.className.string)).sorted().prefix(10).joined(separator: ", "))",
                "objects": "\(refused.count)",
            ])
    }

    /// Makes the version by which the client's copies of some objects are put right.
    private func compensate(
        _ judged: WriteTrial, _ entry: UploadedChangeset, _ views: inout ClientViews
    ) async throws {
        let objects = judged.resynced
        let schema = context.state.schema
        var selection = ChangesetSelection()
        for address in objects where schema.table(address.className) != nil { selection.erase(address) }
        var whole = StateChangesets(schema: schema, byteBudget: .max)
        for address in objects {
            guard let view = judged.view?[address.className], let object = context.state.object(address),
                view.contains(object, address.key)
            else { continue }
            _ = whole.append(address, object, without: view.role?.hiddenColumns ?? [])
        }
        do {
            if let made = whole.finish() { try selection.append(made) }
        } catch {
            throw WorkerError(
                .corrupt, "a compensating write of realm \(context.name) cannot be made", underlying: error)
        }
        let timestamp = clock.changesetNow
        work.change(context).append(Changeset(), origin: .server, clientVersion: 0, timestamp: timestamp)
        views.add(
            CompensatingWrite(
                version: context.record.latest.version, clientVersion: entry.clientVersion,
                integrated: entry.clientVersion, timestamp: timestamp, refused: judged.refused, objects: objects,
                changeset: selection.bytes))
        if !judged.refused.isEmpty { metrics.compensated(judged.refused.count, app: app.id) }
    }
}

/// A client has so many writes that were undone and that it has not heard of that no more are taken.
struct FullOfCompensationsError: Error {
    var reason: String
}
