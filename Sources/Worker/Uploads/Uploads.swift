import Changesets
import Logging
import Merge
import Messages
import Query
import RealmState
import Storage
import SyncModel
import Views

/// Makes clients' uploads part of their realms.
struct Uploads: SlicePart {
    let work: SliceWork

    /// Integrates one UPLOAD: all of its new changesets, or none.
    ///
    /// - Parameter delivery: by which the message came; nil: several came, which is to be tried with all of them together.
    /// - Throws: `TogetherError` if that has failed. Then what was changed is to be undone, and each to be dealt with alone.
    func integrate(
        _ message: ChangesetMessage, _ upload: ChangesetMessage.Upload,
        _ changesets: [Result<Changeset, ChangesetError>], _ delivery: SliceDelivery?
    ) async throws {
        guard try await work.settings(of: message.realm.app) != nil else { throw PoisonError.noApp(message.realm.app) }
        guard let app = try await admittance.admit(message.realm, upload.session, to: nil),
            let rights = try admittance.admit(upload.rights, message.realm, upload.session, to: nil)
        else { return }
        let context = try await work.unrestartedRealm(message.realm, of: app)
        let claim = SessionClaim(
            session: upload.session, clientFile: upload.clientFile, generation: upload.generation)
        guard var file = try await admittance.admit(claim, of: app, in: context),
            try await admittance.admit(
                file.user, under: upload.rights, of: app, context.name, upload.session, to: nil)
        else { return }
        if let first = message.entries.first {
            file =
                context.name.isFlexible
                ? try work.beginFlexible(file, at: first.serverVersion, in: context)
                : try await work.begin(file, at: first.serverVersion, in: context)
        }
        // A client of a flexible realm needs nothing of the history before it began.
        let isInBase =
            context.name.isFlexible
            ? file.upload.serverVersion < file.historyStart ?? 0
            : try await work.base(at: file.upload.serverVersion, of: file, in: context) != nil
        let verdict = file.progress.verdict(
            on: upload.head, entries: message.entries.lazy.map(\.cursor), latest: context.record.latest.version,
            kept: isInBase ? 0 : context.record.historyBase)
        if delivery == nil { guard case .integrate = verdict else { throw TogetherError() } }
        switch verdict {
        case .retry(let reason):
            metrics.gap(app: app.id)
            try admittance.refuse(context.name, upload.session, .retry(reason))
        case .reset(let code, let reason):
            // An upload that contradicts the row does not say what its client has under the row's numbers.
            try await admittance.refuseForReset(
                context, upload.session, code: code, reason, app: app, file: file,
                integrated: code == .clientFileExpired ? file.upload.clientVersion : nil)
        case .integrate(let first):
            var entries = message.entries[first...]
            var new = changesets[first...]
            let user = AppUser(app: app.id, user: file.user)
            metrics.duplicates(first, app: app.id)
            var wish = Allowances.Wish(bytes: entries.reduce(0) { $0 + $1.changeset.count })
            wish.removes = new.allSatisfy { (try? $0.get().onlyRemoves) ?? false }
            if let refusal = try await Allowances(work: work).take(wish, of: user, in: app) {
                return try admittance.refuse(context.name, upload.session, refusal)
            }
            do {
                try UploadPermission(rights: rights, app: app, schema: context.state.schema).check(new)
                if rights != .readWrite {
                    // The upload declares what is there. Nothing of an author who may not write is kept, however often it is
                    // said.
                    new = ArraySlice(repeating: .success(Changeset()), count: new.count)
                    for index in entries.indices { entries[index].changeset = Changeset().encoded() }
                }
                try await RecoveredLists(work: work, context: context, file: file).leaveOutWhatDoesNotFit(
                    of: &entries, &new)
                if context.name.isFlexible {
                    if !entries.isEmpty {
                        let views = try work.clientViews(of: file, in: context)
                        try read(views.views.segments.map(\.view), of: views, in: context)
                    }
                    try await metering(context, limit: limits.evaluation.stepsPerUpload) { meter in
                        /// Nothing stands that was judged by what no longer counts, also if the rest is to wait.
                        func checkMeter() throws {
                            guard meter.overrun != nil else { return }
                            metrics.tooDear(app: app.id)
                            throw BadChangesetError(
                                reason: "judging an upload of client file \(file.ident): \(meter.refusal)",
                                isTooDear: true)
                        }
                        do {
                            try await FlexibleUploads(work: work, app: app, context: context).integrate(
                                Array(zip(entries, new)), of: upload.head, by: file,
                                isAcknowledged: !message.entries.isEmpty)
                        } catch let pause as MergePause {
                            try checkMeter()
                            throw pause
                        }
                        try checkMeter()
                    }
                    return try await note(entries, of: file, from: app, in: context)
                }
                let outcome = try await integrate(
                    Array(zip(entries, new)), of: upload, by: file, from: app, in: context)
                // Also an upload that holds nothing new is acknowledged: its client may not have heard the first time.
                work.change(context).integrated(
                    outcome, of: file.ident, at: work.stamp, isAcknowledged: !message.entries.isEmpty)
            } catch let pause as MergePause where pause.integrated > 0 {
                let through = entries.prefix(pause.integrated)
                Allowances(work: work).giveBack(
                    bytes: entries.dropFirst(pause.integrated).reduce(0) { $0 + $1.changeset.count }, of: user)
                try await note(through, of: file, from: app, in: context)
                work.keep()
                throw pause
            } catch is any UploadError where delivery == nil {
                throw TogetherError()
            } catch is WriteDeniedError {
                undoUpload(of: file, in: context)
                return try await deny(upload, of: file, from: app, in: context)
            } catch let error as SchemaRefusedError {
                undoUpload(of: file, in: context)
                return try admittance.refuse(context.name, upload.session, error.refusal)
            } catch let error as OvertakenWritesError {
                undoUpload(of: file, in: context)
                return try await admittance.refuseForReset(
                    context, upload.session, code: .clientFileExpired, error.reason, app: app, file: file,
                    integrated: file.upload.clientVersion)
            } catch let error as BadChangesetError {
                work.undo()
                if error.isTooDear {
                    metrics.cutOff(app: app.id)
                    activity.refusedMerge(app: app.id)
                }
                // The realm goes on without it; its author cannot, since what follows builds on it.
                if let delivery { try work.setAside(delivery, reason: error.reason, app: app.id, isOnce: true) }
                return try await admittance.refuseForReset(
                    context, upload.session, code: .badChangeset, error.told(file.ident, in: context.name), app: app,
                    file: file,
                    integrated: file.upload.clientVersion)
            }
            try await note(entries, of: file, from: app, in: context)
        }
    }

    /// Notes what was integrated.
    private func note(
        _ entries: ArraySlice<UploadedChangeset>, of file: ClientFileRecord, from app: AppRecord,
        in context: RealmContext
    ) async throws {
        metrics.integrated(entries.count, app: app.id)
        activity.integrated(entries.count, into: context.name, at: clock.uptime())
        noteTimes(entries, of: file, from: app, in: context)
        try await inference.observe(
            .uploaded(timestamps: entries.map(\.timestamp)), of: file.ident, campaign: nil, in: context)
    }

    private func noteTimes(
        _ entries: ArraySlice<UploadedChangeset>, of file: ClientFileRecord, from app: AppRecord,
        in context: RealmContext
    ) {
        let ahead = AheadTime(entries.lazy.map(\.timestamp), at: clock.changesetNow)
        metrics.ahead(ahead.count, app: app.id)
        guard !entries.isEmpty, ahead.latest != file.ahead else { return }
        work.change(context).update(file.ident) { $0.ahead = ahead.latest }
        guard file.ahead == nil else { return }
        logger.notice(
            "a client's changesets are dated far ahead",
            metadata: [
                "app": "\(app.id)", "realm": "\(context.name.partition)", "client_file": "\(file.ident)",
                "user": "\(file.user)", "until": "\(ahead.latest?.unixMilliseconds ?? 0)",
            ])
    }

    /// Undoes all of an upload that its client comes back with, but for where the client has begun.
    private func undoUpload(of file: ClientFileRecord, in context: RealmContext) {
        work.undo()
        work.change(context).update(file.ident) { $0.historyStart = file.historyStart }
    }

    /// Refuses an upload that its user may not make. Nothing of it is in the history.
    private func deny(
        _ upload: ChangesetMessage.Upload, of file: ClientFileRecord, from app: AppRecord, in context: RealmContext
    ) async throws {
        metrics.denied(app: app.id, reason: "readOnly")
        logger.notice(
            "upload denied",
            metadata: [
                "app": "\(app.id)", "realm": "\(context.name.partition)", "user": "\(file.user)",
                "client_file": "\(file.ident)", "clause": "partition.write",
                "rules": "\(upload.rights?.rulesVersion ?? 0)", "then": "\(app.onWriteDenied.rawValue)",
            ])
        let reason =
            "permission denied: the rules of app \(app.id) let this user read the partition and not write to it;"
            + " nothing of the upload was integrated"
        switch app.onWriteDenied {
        case .error: try admittance.refuse(context.name, upload.session, .applicationBug(.permissionDenied, reason))
        case .discard:
            try await admittance.refuseForReset(
                context, upload.session, code: .permissionDenied, reason, app: app, file: file,
                integrated: file.upload.clientVersion, mustDiscard: true)
        }
    }

    /// - Throws: `BadChangesetError` or `SchemaRefusedError`; what the message has changed is then to be undone.
    private func integrate(
        _ entries: [(UploadedChangeset, Result<Changeset, ChangesetError>)], of upload: ChangesetMessage.Upload,
        by file: ClientFileRecord,
        from app: AppRecord, in context: RealmContext
    ) async throws -> UploadOutcome {
        let changesets = try entries.map { entry, parsed in
            IncomingChangeset(
                entry, parsed: try parsed.get(named: "of client version \(entry.clientVersion)"), from: file.ident)
        }
        let part = AsideMerge.Upload(
            realm: context.record.id, generation: context.record.generation, clientFile: file.ident,
            recorded: file.progress, head: upload.head, entries: entries.map(\.0))
        let integration = try await UploadMerge(work: work, file: file, context: context, upload: part).merged(
            changesets)
        if !entries.isEmpty {
            work.steps += Self.steps(toApply: integration.changesets)
            let applied = try await ChangesetApplication(work: work).apply(
                integration.changesets.map(\.changeset), to: context
            ) {
                try await SchemaAdmission(work: work).admit($0, of: file.user, from: app)
            }
            for (merged, (changeset, applied)) in zip(integration.changesets, applied) {
                work.change(context).append(
                    changeset, origin: file.ident, clientVersion: ClientVersion(merged.version),
                    timestamp: SyncTimestamp(merged.originTimestamp), as: applied)
            }
            try restate(entries.map(\.0), by: file, as: integration.changesets, in: context)
        }
        return integration.outcome
    }

    /// Makes the version that says once more what recovered writes have come to. It is as old as the oldest of them, so that nothing which is newer
    /// is undone.
    private func restate(
        _ entries: [UploadedChangeset], by file: ClientFileRecord, as merged: [IncomingChangeset],
        in context: RealmContext
    ) throws {
        let recovered = entries.filter { file.beginsWithRecovered($0) }
        guard let since = recovered.map(\.timestamp).min() else { return }
        let versions = Set(recovered.map(\.clientVersion.rawValue))
        var restatement = Restatement()
        for changeset in merged where versions.contains(changeset.version) {
            _ = restatement.add(changeset.changeset, context.state.schema)
        }
        guard !restatement.isEmpty else { return }
        let changeset = try WorkerError.reading("what was recovered") {
            try restatement.changeset(of: context.state)
        }
        work.steps += Self.steps(toApply: changeset)
        let applied = try work.apply(changeset, to: context)
        work.change(context).append(changeset, origin: .server, clientVersion: 0, timestamp: since, as: applied)
    }

    /// What applying and writing an upload takes, in steps of merging: a client can make that as dear as merging.
    private static func steps(toApply changesets: [IncomingChangeset]) -> UInt64 {
        changesets.reduce(100_000) { $0 + steps(toApply: $1.changeset) }
    }

    static func steps(toApply changeset: Changeset) -> UInt64 {
        5_000 + 1_000 * UInt64(changeset.instructions.count)
    }

    /// What a message takes at least if it is an upload, in steps of merging: with others, and without merging.
    static func leastSteps(of delivery: SliceDelivery) -> UInt64 {
        guard delivery.upload != nil else { return 0 }
        return delivery.changesets.reduce(0) { $0 + ((try? steps(toApply: $1.get())) ?? 0) }
    }
}

extension ChangesetMessage.Upload {
    var head: UploadHead {
        UploadHead(follows: follows, progress: progress, lockedServerVersion: lockedServerVersion)
    }
}

extension ClientFileRecord {
    /// How far the server has come with the client file.
    var progress: ClientFileProgress {
        ClientFileProgress(upload: upload, lockedServerVersion: lockedServerVersion)
    }
}

/// Says that an upload cannot be integrated.
protocol UploadError: Error {}

/// A changeset that cannot be part of its realm's history: it does not parse, merge or apply.
struct BadChangesetError: UploadError {
    var reason: String
    /// Whether merging or judging the upload takes more work than one upload may.
    var isTooDear = false
    /// The reason tells of the objects that the changeset has met, such as how long a list is.
    var tellsOfObjects = false

    /// Why its author has to reset, as it may hear. With flexible sync it may not see all that its changeset names.
    func told(_ file: FileIdent, in realm: RealmName) -> String {
        guard tellsOfObjects, realm.isFlexible else { return reason }
        return
            "an upload of client file \(file) does not fit the objects that it changes; what does not fit is in the log of the"
            + " server's worker, and in its letter: sluice dead-letters list"
    }
}

extension BadChangesetError {
    /// Makes the error of a changeset that follows the format and would end stock clients.
    init(misfit: Misfit) { self.init(reason: "stock clients could not go on with it: \(misfit)") }
}

extension Result<Changeset, ChangesetError> {
    /// - Parameter name: tells the changeset from others, in the words of the error.
    func get(named name: @autoclosure () -> String) throws(BadChangesetError) -> Changeset {
        try mapError { BadChangesetError(reason: "changeset \(name()): \($0)") }.get()
    }
}

/// Several uploads cannot be integrated together; perhaps some of them can be alone.
struct TogetherError: Error {}
