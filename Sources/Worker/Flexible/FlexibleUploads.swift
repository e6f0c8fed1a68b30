import Changesets
import Logging
import Merge
import Operations
import RealmState
import Storage
import SyncModel
import Views

/// Makes a client's upload part of a flexible realm: what its user may write and could know of. What does not count is undone at its author
/// by a compensating write (docs/flexible.md, "Compensating writes").
struct FlexibleUploads: SlicePart {
    let work: SliceWork
    let app: AppRecord
    let context: RealmContext

    /// A changeset of the upload as it is judged.
    private struct Part {
        let entry: UploadedChangeset
        let trial: WriteTrial
        /// The objects whose partition it did not say.
        var settled: Set<ObjectAddress> = []
    }

    /// Changesets that are judged and merged together.
    private struct Stretch {
        var parts: [Part] = []
        let views: UploadViews
        let home: PartitionHome?
    }

    /// What is known in the middle of an upload.
    private struct Course {
        var views: ClientViews
        var putRight: PutRight
        let places: PlaceCheck?
        /// What recovered writes have come to, and when the oldest of them was made.
        var restatement = Restatement()
        var recoveredSince: SyncTimestamp?
        /// Taken by merging so far, and by judging.
        var steps: UInt64 = 0
        var judging: UInt64 = 0
    }

    /// What its objects have met since is read once, and merged with once, for all changesets; then each is judged by what the ones before it have
    /// left.
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
            places: try await QueryableFields(work: work, app: app).queryable().map { PlaceCheck($0) })
        // If the upload has had to wait for its merge, its earlier part is recorded already.
        var follows = max(head.follows, record.upload.clientVersion)
        var rest = entries[...]
        while let last = rest.last {
            let stretch = try await stretch(of: rest, file, course)
            let end = stretch.parts.last?.entry ?? last.0
            let isLast = stretch.parts.count == rest.count
            let part = UploadHead(
                follows: follows,
                progress: isLast
                    ? head.progress
                    : UploadCursor(clientVersion: end.clientVersion, serverVersion: end.serverVersion),
                lockedServerVersion: isLast ? head.lockedServerVersion : record.lockedServerVersion)
            let outcome: UploadOutcome
            do {
                outcome = try await integrate(stretch, part, record, &course)
            } catch var pause as MergePause {
                pause.integrated = entries.count - rest.count
                if pause.integrated > 0 { keep(course.views, of: file) }
                throw pause
            }
            finish(outcome, of: file, &course.views, isAcknowledged: isAcknowledged)
            record = context.clientFile(file.ident)?.record ?? record
            follows = end.clientVersion
            rest = rest.dropFirst(stretch.parts.count)
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
        Allowances(work: work).note(
            bytes: context.draftedImageBytes, of: AppUser(app: app.id, user: file.user))
        let bytes = views.encoded()
        if bytes != file.views { work.change(context).update(file.ident) { $0.views = bytes } }
    }

    // MARK: Judging

    /// The first changesets, up to one that adds to the schema: by what it adds the others are judged.
    private func stretch(
        of entries: ArraySlice<(UploadedChangeset, Result<Changeset, ChangesetError>)>, _ file: ClientFileRecord,
        _ course: Course
    ) async throws -> Stretch {
        let schema = context.state.schema
        let views = UploadViews(course.views, in: context)
        let home = course.views.partition.flatMap { PartitionHome($0, of: app, in: schema) }
        var stretch = Stretch(views: views, home: home)
        var changesets: [Changeset] = []
        for (entry, parsed) in entries {
            let changeset = try parsed.get(named: "of client version \(entry.clientVersion)")
            changesets.append(try mapped(changeset, by: stretch.views.mapping))
            if changeset.adds(to: schema) { break }
        }
        if home != nil { try await work.load(changesets, into: context) }
        let asymmetric = Changeset().asymmetricClasses(in: schema)
        let start = max(file.historyStart ?? 0, course.views.views.start ?? 0)
        // As far as the changesets before decide.
        var exists: [ObjectAddress: Bool] = [:]
        for ((entry, _), mapped) in zip(entries, changesets) {
            var (changeset, settled) = (mapped, Set<ObjectAddress>())
            if let home {
                (changeset, settled) = home.settling(mapped) { exists[$0] ?? context.state.contains($0) }
                for (address, write) in changeset.writes() ?? [] where write.leavesNew || write.erases {
                    exists[address] = write.leavesNew
                }
            }
            let trial = try WriteTrial(
                changeset, of: entry.clientVersion, base: max(entry.serverVersion, start), seen: entry.serverVersion,
                mayBeRecovered: file.mayHaveRecovered(entry),
                beginsWithRecovered: file.beginsWithRecovered(entry), views: views, asymmetric: asymmetric,
                schema: schema,
                places: course.places)
            stretch.parts.append(Part(entry: entry, trial: trial, settled: settled))
        }
        return stretch
    }

    private func integrate(
        _ stretch: Stretch, _ head: UploadHead, _ file: ClientFileRecord, _ course: inout Course
    ) async throws -> UploadOutcome {
        let latest = context.record.latest.version
        let trials = stretch.parts.map(\.trial)
        let key = UploadPasts.Kept.Key(
            file: file.ident, latest: latest, views: file.views, entries: stretch.parts.map(\.entry))
        let kept = context.flexible.pasts?.pasts(of: key)
        context.flexible.pasts = nil
        var reading = UploadPasts(work: work, context: context, views: stretch.views, author: file.ident)
        var pasts: [ObjectAddress: ObjectPast]
        if let kept {
            pasts = kept
            try await work.load(trials.lazy.map(\.changeset), into: context)
        } else {
            pasts = try await reading.read(trials)
        }
        let search = RepeatedWriteSearch(
            work: work, context: context, file: file, views: stretch.views, pasts: pasts, putRight: course.putRight)
        let repeated = try await search.find(in: stretch.parts.map { ($0.entry, $0.trial) })
        let plan = UploadPlan(trials, pasts, course.putRight, repeated)
        let asked = stretch.views.steps
        course.judging += reading.steps + asked + stretch.views.readSteps
        work.cost += reading.steps + asked
        let (integration, merged): (UploadIntegration, [Changeset?])
        do {
            (integration, merged) = try await merge(stretch, plan, head, file, &course)
        } catch let pause as MergePause {
            context.flexible.pasts = UploadPasts.Kept(pasts, of: key)
            throw pause
        }
        for (index, part) in stretch.parts.enumerated() {
            guard !course.views.isFull else {
                throw OvertakenWritesError(
                    reason:
                        "client file \(file.ident) has written to too many objects of which it had not seen what puts its copies right (\(ClientViews.maxCompensationBytes) bytes of keys)"
                )
            }
            let trial = try part.trial.judged(
                by: pasts, course.putRight, repeated, merged: plan.merged[index], through: latest, in: context.state)
            try waitIfDue(context)
            try await integrate(part, trial, merged[index], stretch, file, &course, &pasts)
        }
        try restate(&course, stretch, &pasts)
        work.cost += stretch.views.steps - asked
        return integration.outcome
    }

    /// Merges what is to be merged of all changesets.
    ///
    /// - Returns: with the upload, what is left of each; nil for one of which nothing was to be merged.
    private func merge(
        _ stretch: Stretch, _ plan: UploadPlan, _ head: UploadHead, _ file: ClientFileRecord, _ course: inout Course
    ) async throws -> (UploadIntegration, [Changeset?]) {
        var incoming: [IncomingChangeset] = []
        var entries: [UploadedChangeset] = []
        var places: [Int] = []
        for (index, part) in stretch.parts.enumerated() {
            let selection = try plan.selection(of: part.trial.changeset, index)
            guard !selection.isEmpty else { continue }
            incoming.append(
                IncomingChangeset(
                    version: part.entry.clientVersion.rawValue,
                    lastIntegratedLocalVersion: part.trial.base.rawValue,
                    originTimestamp: part.entry.timestamp.rawValue, originFileIdent: file.ident.rawValue,
                    changeset: selection.changeset))
            // Roles that have changed since may have selected something else.
            var entry = part.entry
            entry.changeset = selection.bytes
            entries.append(entry)
            places.append(index)
        }
        var merged = [Changeset?](repeating: nil, count: stretch.parts.count)
        guard !incoming.isEmpty else {
            return (UploadIntegration(head, of: file.ident, changesets: [], recorded: file.progress), merged)
        }
        let upload = AsideMerge.Upload(
            realm: context.record.id, generation: context.record.generation, clientFile: file.ident,
            recorded: file.progress, head: head, entries: entries, own: plan.own)
        let run = UploadMerge(
            work: work, file: file, context: context, upload: upload, spent: course.steps,
            judging: course.judging)
        defer { course.steps = run.steps }
        let integration = try await run.merged(incoming)
        for (changeset, place) in zip(integration.changesets, places) { merged[place] = changeset.changeset }
        return (integration, merged)
    }

    // MARK: One changeset

    private func integrate(
        _ part: Part, _ trial: WriteTrial, _ merged: Changeset?, _ stretch: Stretch, _ file: ClientFileRecord,
        _ course: inout Course, _ pasts: inout [ObjectAddress: ObjectPast]
    ) async throws {
        let entry = part.entry
        var judged = trial
        try await leaveOutWhatDoesNotFit(of: &judged, entry, by: file)
        let selection = try judged.selection(merged: merged)
        let final = context.state.applicable(try await admitted(selection, &judged))
        if let misfit = judged.misfits.first { report(misfit, of: judged.misfits.count, by: file) }
        try await admit(final, by: file)
        try append(
            final, origin: file.ident, clientVersion: entry.clientVersion, timestamp: entry.timestamp, stretch, &pasts)
        work.cost += Uploads.cost(toApply: final)
        if file.beginsWithRecovered(entry), !final.isEmpty {
            judged.resync(course.restatement.add(final, context.state.schema))
            course.recoveredSince = min(course.recoveredSince ?? entry.timestamp, entry.timestamp)
        }
        if let told = try told(of: final, by: stretch.views.mapping) {
            try append(told, origin: .server, clientVersion: 0, timestamp: entry.timestamp, stretch, &pasts)
        }
        // The client's own copy does not have the partition that was added, and is not sent its own writes.
        if let told = stretch.home?.told(of: final, part.settled), !told.isEmpty {
            try append(told, origin: .server, clientVersion: 0, timestamp: clock.changesetNow, stretch, &pasts)
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
        if !judged.refusedIngests.isEmpty { reportIngests(judged, entry, by: file, &course.views) }
        if !judged.lateIngests.isEmpty { reportLate(judged, by: file) }
    }

    /// Makes the version that says once more what recovered writes have come to. It is as old as the oldest of them, so that nothing which is newer
    /// is undone.
    private func restate(
        _ course: inout Course, _ stretch: Stretch, _ pasts: inout [ObjectAddress: ObjectPast]
    ) throws {
        guard let since = course.recoveredSince else { return }
        let changeset = try WorkerError.reading("what was recovered") {
            try course.restatement.changeset(of: context.state)
        }
        course.restatement = Restatement()
        course.recoveredSince = nil
        work.cost += Uploads.cost(toApply: changeset)
        try append(changeset, origin: .server, clientVersion: 0, timestamp: since, stretch, &pasts)
    }

    /// Makes a changeset the next version, and part of its objects' pasts.
    private func append(
        _ changeset: Changeset, origin: FileIdent, clientVersion: ClientVersion, timestamp: SyncTimestamp,
        _ stretch: Stretch, _ pasts: inout [ObjectAddress: ObjectPast]
    ) throws {
        let touched = changeset.touchedAddresses.filter { pasts[$0] != nil }
        let before = touched.map { ($0, context.state.object($0)) }
        let applied = try work.apply(changeset, to: context)
        work.change(context).append(
            changeset, origin: origin, clientVersion: clientVersion, timestamp: timestamp, as: applied)
        for (address, before) in before {
            let now = context.state.object(address)
            pasts[address]?.append(
                context.record.latest.version, isOwn: origin != .server, before: before, isThere: now != nil,
                isInView: stretch.views.isInView(now, address))
        }
    }

    /// What is left once the roles have had their say, on the objects before and after.
    private func admitted(_ selection: Changeset, _ judged: inout WriteTrial) async throws -> Changeset {
        do {
            try await work.load([selection], into: context)
            let refused = try work.change(context).attempt { try judged.admit(selection, to: &$0) }
            guard !refused.isEmpty else { return selection }
            var rest = ChangesetSelection()
            try rest.append(selection) { address, _ in address.map { !refused.contains($0) } ?? true }
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
            metadata: .about(
                context.name, clientFile: file.ident,
                [
                    "user": "\(file.user)",
                    "count": "\(count)", "first": "\(misfit)",
                ]))
    }

    /// Makes the version by which the author is told that writes to asymmetric classes do not count.
    private func reportIngests(
        _ judged: WriteTrial, _ entry: UploadedChangeset, by file: ClientFileRecord, _ views: inout ClientViews
    ) {
        let refused = judged.refusedIngests
        views.add(compensate(entry, refused, objects: []))
        metrics.denied(app: app.id, reason: "asymmetric")
        logger.notice(
            "writes to asymmetric classes refused",
            metadata: .about(
                context.name, clientFile: file.ident,
                [
                    "classes": "\(Set(refused.map(\.className.string)).sorted().prefix(10).joined(separator: ", "))",
                    "objects": "\(refused.count)",
                ]))
    }

    /// Says what of asymmetric classes was left out since it was there. Its author is not told.
    private func reportLate(_ judged: WriteTrial, by file: ClientFileRecord) {
        let late = judged.lateIngests
        metrics.denied(app: app.id, reason: "asymmetricKey")
        logger.notice(
            "objects of asymmetric classes left out, since others have their keys",
            metadata: .about(
                context.name, clientFile: file.ident,
                [
                    "classes": "\(Set(late.map(\.className.string)).sorted().prefix(10).joined(separator: ", "))",
                    "objects": "\(late.count)",
                ]))
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
