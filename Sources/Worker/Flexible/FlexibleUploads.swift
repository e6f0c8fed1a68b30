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

    /// What is known in the middle of an upload.
    private struct Course {
        var views: ClientViews
        var putRight: PutRight
        let places: PlaceCheck?
        /// Taken by merging so far.
        var steps: UInt64 = 0
        var images: ImageCache
    }

    /// Each changeset is judged by what the ones before it have left.
    ///
    /// - Throws: `BadChangesetError`, `SchemaRefusedError`, `OvertakenWritesError`; what was changed is then to be undone.
    ///   `MergePause`, which says how many changesets stand nevertheless: merging them again would take as long again.
    func integrate(
        _ entries: [(UploadedChangeset, Result<Changeset, ChangesetError>)], of head: UploadHead,
        by file: ClientFileRecord, isAcknowledged: Bool
    ) async throws {
        var record = file
        let views = try work.clientViews(of: file, in: context)
        var course = Course(
            views: views, putRight: PutRight(views.compensations),
            places: try await QueryableFields(work: work, app: app).queryable().map { PlaceCheck($0) },
            images: ImageCache(maxBytes: limits.maxWindowBytes))
        // Of an upload that has had to wait for its merge the part before is in the books.
        var follows = max(head.follows, record.upload.clientVersion)
        for (index, (entry, parsed)) in entries.enumerated() {
            guard !course.views.isFull else {
                throw OvertakenWritesError(
                    reason:
                        "client file \(file.ident) has written to too many objects of which it had not seen what puts its copies right (\(ClientViews.maxCompensationBytes) bytes of keys)"
                )
            }
            var changeset = try mapped(
                try parsed.get(named: "of client version \(entry.clientVersion)"), of: course.views)
            let home = course.views.partition.flatMap { PartitionHome($0, of: app, in: context.state.schema) }
            var settled: Set<ObjectAddress> = []
            if let home {
                try await work.load([changeset], into: context)
                (changeset, settled) = home.settling(changeset) { context.state.contains($0) }
            }
            let isLast = index == entries.count - 1
            let part = UploadHead(
                follows: follows,
                progress: isLast
                    ? head.progress
                    : UploadCursor(clientVersion: entry.clientVersion, serverVersion: entry.serverVersion),
                lockedServerVersion: isLast ? head.lockedServerVersion : record.lockedServerVersion)
            let outcome: UploadOutcome
            do {
                outcome = try await integrate(entry, changeset, part, record, &course, home, settled)
            } catch var pause as MergePause {
                pause.integrated = index
                if index > 0 { keep(course.views, of: file) }
                throw pause
            }
            finish(outcome, of: file, &course.views, isAcknowledged: isAcknowledged)
            record = context.clientFile(file.ident)?.record ?? record
            follows = entry.clientVersion
        }
        if entries.isEmpty {
            let outcome = UploadIntegration(head, of: file.ident, changesets: [], recorded: record.progress).outcome
            finish(outcome, of: file, &course.views, isAcknowledged: isAcknowledged)
        }
        keep(course.views, of: file)
    }

    private func finish(
        _ outcome: UploadOutcome, of file: ClientFileRecord, _ views: inout ClientViews, isAcknowledged: Bool
    ) {
        if let settled = outcome.settled { views.settle(settled) }
        work.change(context).integrated(outcome, of: file.ident, at: work.stamp, isAcknowledged: isAcknowledged)
    }

    /// Keeps what the client has had. Once an upload: it may have megabytes, and thousands of changesets.
    private func keep(_ views: ClientViews, of file: ClientFileRecord) {
        let bytes = views.encoded()
        if bytes != file.views { work.change(context).update(file.ident) { $0.views = bytes } }
    }

    // MARK: One changeset

    private func integrate(
        _ entry: UploadedChangeset, _ changeset: Changeset, _ head: UploadHead, _ file: ClientFileRecord,
        _ course: inout Course, _ home: PartitionHome?, _ settled: Set<ObjectAddress>
    ) async throws -> UploadOutcome {
        let base = max(entry.serverVersion, file.historyStart ?? 0, course.views.views.start ?? 0)
        var judged = try WriteTrial(
            changeset, by: file.ident, base: base, seen: entry.serverVersion, at: context,
            views: course.views, putRight: course.putRight, places: course.places)
        judged.judge(with: try await timelines(of: judged, after: base, &course.images))

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
            let run = UploadMerge(work: work, file: file, context: context, upload: upload, spent: course.steps)
            defer { course.steps = run.steps }
            integration = try await run.merged([incoming])
        }
        let merged = integration.changesets.first?.changeset ?? merge
        let inserted = try judged.selection(of: changeset) { $0 == .insert || $0 == .ingest }
        let final = context.state.applicable(try await admitted(merged, inserted, &judged))
        if let misfit = judged.misfits.first { report(misfit, of: judged.misfits.count, by: file) }
        try await admit(final, by: file)
        let images = try work.apply(final, to: context)
        work.change(context).append(
            final, origin: file.ident, clientVersion: entry.clientVersion, timestamp: entry.timestamp, images: images)
        try tell(final, of: course.views, at: entry.timestamp)
        // The client's own copy does not have the partition that was added, and is not sent its own writes.
        if let told = home?.told(of: final, settled), !told.isEmpty {
            let images = try work.apply(told, to: context)
            work.change(context).append(
                told, origin: .server, clientVersion: 0, timestamp: clock.changesetNow, images: images)
        }
        var compensations: [CompensatingWrite] = []
        if !judged.givenWay.isEmpty {
            compensations.append(
                compensate(
                    entry, judged.givenWay, objects: judged.givenWay.map { ObjectAddress($0.className, $0.key) },
                    isTold: false))
        }
        if !judged.resynced.isEmpty {
            if !judged.refused.isEmpty { metrics.compensated(judged.refused.count, app: app.id) }
            compensations.append(compensate(entry, judged.refused, objects: judged.resynced))
        }
        for compensation in compensations {
            course.views.add(compensation)
            course.putRight.add(compensation)
        }
        if !judged.refusedIngests.isEmpty { reportIngests(judged, entry, &course.views) }
        return integration.outcome
    }

    /// What has happened to each of the changeset's objects since a version.
    private func timelines(
        of trial: WriteTrial, after base: ServerVersion, _ images: inout ImageCache
    ) async throws -> [ObjectAddress: ObjectTimeline] {
        let schema = context.state.schema
        var slots: [ObjectSlot: ObjectAddress] = [:]
        for address in trial.judged {
            if let table = schema.table(address.className) { slots[ObjectSlot(table.id, address.key)] = address }
        }
        try await work.load(slots.keys, into: context)
        var touches: [ObjectAddress: [ObjectTimeline.Touch]] = [:]
        func add(_ record: HistoryRecord) throws {
            let found = try images.of(slots.keys, before: record) { try work.images(of: record, in: context) }
            for image in found {
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
                guard !records.isEmpty else { throw context.lacks(next) }
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
            let refused = try work.change(context).attempt { try judged.admit(all, to: &$0) }
            guard !refused.isEmpty else { return all }
            var rest = ChangesetSelection()
            try rest.append(all) { address, _ in address.map { !refused.contains($0) } ?? true }
            return rest.changeset
        } catch let error as RealmStateError {
            throw error.code == .badInstruction
                ? BadChangesetError(reason: error.description, tellsOfObjects: true) : error
        } catch let error as ChangesetError {
            throw BadChangesetError(reason: "\(error)")
        }
    }

    /// Checks whether the app lets its schema change as a changeset wants.
    private func admit(_ changeset: Changeset, by file: ClientFileRecord) async throws {
        guard changeset.declaresSchema else { return }
        let before = context.state.schema
        let after = try work.change(context).trial(of: changeset) { $0.schema }
        try await SchemaAdmission(work: work).admit(
            SchemaChange(from: before, to: after), of: file.user, from: app)
    }

    // MARK: Undoing

    /// Says why writes are undone that the user's roles allow: 231 has no words for it.
    private func report(_ misfit: Misfit, of count: Int, by file: ClientFileRecord) {
        metrics.denied(app: app.id, reason: "misfit")
        logger.notice(
            "writes refused that stock clients cannot apply",
            metadata: [
                "app": "\(app.id)", "realm": "\(context.name.partition)", "user": "\(file.user)",
                "client_file": "\(file.ident)", "count": "\(count)", "first": "\(misfit)",
            ])
    }

    /// Makes the version by which the author is told that writes to asymmetric classes do not count.
    private func reportIngests(_ judged: WriteTrial, _ entry: UploadedChangeset, _ views: inout ClientViews) {
        let refused = judged.refusedIngests
        views.add(compensate(entry, refused, objects: []))
        metrics.denied(app: app.id, reason: "asymmetric")
        logger.notice(
            "writes to asymmetric classes refused",
            metadata: [
                "app": "\(app.id)", "realm": "\(context.name.partition)", "client_file": "\(judged.author)",
                "classes": "\(Set(refused.map(\.className.string)).sorted().prefix(10).joined(separator: ", "))",
                "objects": "\(refused.count)",
            ])
    }

    /// Makes the version by which the client is told of writes that do not count, and its copies of some objects are put right.
    private func compensate(
        _ entry: UploadedChangeset, _ refused: [RefusedWrite], objects: [ObjectAddress], isTold: Bool = true
    ) -> CompensatingWrite {
        let timestamp = work.appendNothing(to: context)
        return CompensatingWrite(
            version: context.record.latest.version, clientVersion: entry.clientVersion, isTold: isTold,
            timestamp: timestamp, refused: refused, objects: objects)
    }
}

/// A client wrote to more objects than are remembered before it saw what puts its copies of them right. It has to reset.
struct OvertakenWritesError: UploadError {
    var reason: String
}
