import Changesets
import Logging
import Merge
import Messages
import Operations
import Query
import RealmState
import Storage
import SyncModel
import Views

/// Makes clients' uploads part of their realms: lets an upload in, finds what is new of it, merges and applies that, and notes what has
/// become of it.
struct Uploads: SlicePart {
    let work: SliceWork

    /// One UPLOAD whose session may go on, and what of it is to be integrated.
    struct Admitted {
        let upload: ChangesetMessage.Upload
        let app: AppRecord
        let rights: PartitionRights
        let context: RealmContext
        let file: ClientFileRecord
        /// Whether the upload holds changesets at all, and not only says how far its client is. One that holds nothing new is
        /// acknowledged all the same: its client may not have heard the first time.
        let isAcknowledged: Bool
        var entries: ArraySlice<UploadedChangeset>
        var changesets: ArraySlice<Result<Changeset, ChangesetError>>

        var user: AppUser { AppUser(app: app.id, user: file.user) }
        var parts: [(UploadedChangeset, Result<Changeset, ChangesetError>)] { Array(zip(entries, changesets)) }

        /// Makes the metadata of a line about the upload.
        func about(_ details: Logger.Metadata) -> Logger.Metadata {
            .about(context.name, session: upload.session, clientFile: file.ident, details)
        }
    }

    /// Integrates one UPLOAD: all of its new changesets, or none.
    ///
    /// - Parameter delivery: by which the message came; nil: several came, which is to be tried with all of them together.
    /// - Throws: the `Refusal` of a session that may not go on.
    ///   `TogetherError` if several could not be integrated together. Then what was changed is to be undone, and each to be dealt with alone.
    ///   `MergePause`, `LookPause`, if the upload has to wait.
    func integrate(
        _ message: ChangesetMessage, _ upload: ChangesetMessage.Upload,
        _ changesets: [Result<Changeset, ChangesetError>], _ delivery: SliceDelivery?
    ) async throws {
        var admitted = try await admit(message, upload, changesets)
        try await leaveOutDuplicates(of: &admitted, areSeveral: delivery == nil)
        try await takeAllowance(of: admitted)
        do {
            try permit(&admitted)
            try await RecoveredLists(work: work, context: admitted.context, file: admitted.file)
                .leaveOutWhatDoesNotFit(of: &admitted.entries, &admitted.changesets)
            if admitted.context.name.isFlexible {
                try await integrateByViews(admitted)
            } else {
                try await integrate(admitted)
            }
        } catch let pause as MergePause where pause.integrated > 0 {
            try await keep(pause.integrated, of: admitted)
            throw pause
        } catch let error as any UploadError {
            guard let delivery else { throw TogetherError() }
            throw try await refusal(of: admitted, error, delivery)
        }
        try await note(admitted.entries, of: admitted)
    }

    // MARK: The steps

    /// Lets an upload in whose app, rules, user and client file are as they were when its session began.
    private func admit(
        _ message: ChangesetMessage, _ upload: ChangesetMessage.Upload,
        _ changesets: [Result<Changeset, ChangesetError>]
    ) async throws -> Admitted {
        guard try await work.settings(of: message.realm.app) != nil else { throw PoisonError.noApp(message.realm.app) }
        let app = try await admittance.app(of: message.realm)
        let rights = try admittance.rights(upload.rights, in: message.realm)
        let context = try await work.unrestartedRealm(message.realm, of: app)
        var file = try await admittance.liveFile(
            SessionClaim(clientFile: upload.clientFile, generation: upload.generation), of: upload.session, app: app,
            in: context)
        try await admittance.requireUnchanged(file.user, since: upload.rights, of: app)
        if let first = message.entries.first {
            file =
                context.name.isFlexible
                ? try work.beginFlexible(file, at: first.serverVersion, in: context)
                : try await work.begin(file, at: first.serverVersion, in: context)
        }
        return Admitted(
            upload: upload, app: app, rights: rights, context: context, file: file,
            isAcknowledged: !message.entries.isEmpty, entries: message.entries[...], changesets: changesets[...])
    }

    /// Leaves out what is in the history already, by what the upload says that it follows.
    ///
    /// - Parameter areSeveral: several uploads are tried together.
    private func leaveOutDuplicates(of admitted: inout Admitted, areSeveral: Bool) async throws {
        let (file, context) = (admitted.file, admitted.context)
        // A client of a flexible realm needs nothing of the history before it began.
        let isInBase =
            context.name.isFlexible
            ? file.upload.serverVersion < file.historyStart ?? 0
            : try await work.base(at: file.upload.serverVersion, of: file, in: context) != nil
        let verdict = file.progress.verdict(
            on: admitted.upload.head, entries: admitted.entries.lazy.map(\.cursor),
            latest: context.record.latest.version, kept: isInBase ? 0 : context.record.historyBase)
        if areSeveral { guard case .integrate = verdict else { throw TogetherError() } }
        switch verdict {
        case .integrate(let first):
            metrics.duplicates(first, app: admitted.app.id)
            admitted.entries = admitted.entries.dropFirst(first)
            admitted.changesets = admitted.changesets.dropFirst(first)
            if first > 0 {
                logger.debug("upload begins with duplicates", metadata: admitted.about(["changesets": "\(first)"]))
            }
        case .retry(let reason):
            metrics.gap(app: admitted.app.id)
            throw Refusal.retry(reason)
        case .reset(let code, let reason):
            // An upload that contradicts the row does not say what its client has under the row's numbers.
            throw try await requireReset(of: admitted, code, reason, isCertain: code == .clientFileExpired)
        }
    }

    private func takeAllowance(of admitted: Admitted) async throws {
        var wish = Allowances.Wish(bytes: Self.bytes(admitted.entries))
        wish.removes = admitted.changesets.allSatisfy { (try? $0.get().onlyRemoves) ?? false }
        try await Allowances(work: work).take(wish, of: admitted.user, in: admitted.app)
    }

    private static func bytes(_ entries: ArraySlice<UploadedChangeset>) -> Int {
        entries.reduce(0) { $0 + $1.changeset.count }
    }

    /// Checks that the user may make the upload.
    private func permit(_ admitted: inout Admitted) throws {
        try UploadPermission(
            rights: admitted.rights, app: admitted.app, schema: admitted.context.state.schema
        ).check(admitted.changesets)
        guard admitted.rights != .readWrite else { return }
        // The upload declares what is there. Nothing of an author who may not write is kept, however often it is said.
        admitted.changesets = ArraySlice(repeating: .success(Changeset()), count: admitted.changesets.count)
        for index in admitted.entries.indices { admitted.entries[index].changeset = Changeset().encoded() }
    }

    /// Integrates an upload of a flexible realm: each write counts that the user's roles allow.
    private func integrateByViews(_ admitted: Admitted) async throws {
        let (file, context) = (admitted.file, admitted.context)
        if !admitted.entries.isEmpty {
            let views = try work.clientViews(of: file, in: context)
            try read(views.views.segments.map(\.view), of: views, in: context)
        }
        try await metering(context, limit: limits.evaluation.stepsPerUpload) { meter in
            /// Nothing stands that was judged by what no longer counts, also if the rest is to wait.
            func checkMeter() throws {
                guard meter.overrun != nil else { return }
                metrics.tooDear(app: admitted.app.id)
                throw BadChangesetError(
                    reason: "judging an upload of client file \(file.ident): \(meter.refusal)", isTooDear: true)
            }
            do {
                try await FlexibleUploads(work: work, app: admitted.app, context: context).integrate(
                    admitted.parts, of: admitted.upload.head, by: file, isAcknowledged: admitted.isAcknowledged)
            } catch let pause as MergePause {
                try checkMeter()
                throw pause
            }
            try checkMeter()
        }
    }

    /// Keeps the first changesets of an upload whose rest has to wait for its merge.
    private func keep(_ count: Int, of admitted: Admitted) async throws {
        Allowances(work: work).giveBack(bytes: Self.bytes(admitted.entries.dropFirst(count)), of: admitted.user)
        try await note(admitted.entries.prefix(count), of: admitted)
        work.keep()
    }

    // MARK: Refusing

    /// Undoes an upload that cannot be integrated, and makes the refusal that its session is told.
    private func refusal(
        of admitted: Admitted, _ error: any UploadError, _ delivery: SliceDelivery
    ) async throws -> Refusal {
        switch error {
        case is WriteDeniedError:
            undo(admitted)
            return try await denial(of: admitted)
        case let error as SchemaRefusedError:
            undo(admitted)
            return error.refusal
        case let error as OvertakenWritesError:
            undo(admitted)
            return try await requireReset(of: admitted, .clientFileExpired, error.reason)
        case let error as BadChangesetError:
            work.undo()
            if error.isTooDear {
                metrics.cutOff(app: admitted.app.id)
                activity.refusedMerge(app: admitted.app.id)
            }
            // The realm goes on without it; its author cannot, since what follows builds on it.
            try work.setAside(delivery, reason: error.reason, app: admitted.app.id, isOnce: true)
            return try await requireReset(
                of: admitted, .badChangeset, error.told(admitted.file.ident, in: admitted.context.name))
        default: throw error
        }
    }

    /// Has the upload's client reset.
    ///
    /// - Parameter isCertain: what was integrated is what the client has under the same numbers.
    private func requireReset(
        of admitted: Admitted, _ code: ErrorCode, _ reason: String, isCertain: Bool = true, mustDiscard: Bool = false
    ) async throws -> Refusal {
        try await resets.require(
            of: admitted.file, code: code, reason, app: admitted.app, in: admitted.context,
            session: admitted.upload.session, integrated: isCertain ? admitted.file.upload.clientVersion : nil,
            mustDiscard: mustDiscard)
    }

    /// Undoes all of an upload that its client comes back with, but for where the client has begun.
    private func undo(_ admitted: Admitted) {
        work.undo()
        work.change(admitted.context).update(admitted.file.ident) { $0.historyStart = admitted.file.historyStart }
    }

    /// Makes the refusal of an upload that its user may not make. Nothing of it is in the history.
    private func denial(of admitted: Admitted) async throws -> Refusal {
        let (app, file) = (admitted.app, admitted.file)
        metrics.denied(app: app.id, reason: "readOnly")
        logger.notice(
            "upload denied",
            metadata: admitted.about([
                "user": "\(file.user)", "clause": "partition.write",
                "rules": "\(admitted.upload.rights?.rulesVersion ?? 0)", "then": "\(app.onWriteDenied.rawValue)",
            ]))
        let reason =
            "permission denied: the rules of app \(app.id) let this user read the partition and not write to it;"
            + " nothing of the upload was integrated"
        switch app.onWriteDenied {
        case .error: return .applicationBug(.permissionDenied, reason)
        case .discard: return try await requireReset(of: admitted, .permissionDenied, reason, mustDiscard: true)
        }
    }

    // MARK: Noting

    /// Notes what was integrated.
    private func note(_ entries: ArraySlice<UploadedChangeset>, of admitted: Admitted) async throws {
        metrics.integrated(entries.count, app: admitted.app.id)
        activity.integrated(entries.count, into: admitted.context.name, at: clock.uptime())
        logger.debug(
            "upload integrated",
            metadata: admitted.about([
                "changesets": "\(entries.count)", "client_version": "\(admitted.upload.progress.clientVersion)",
                "server_version": "\(admitted.context.record.latest.version)",
            ]))
        noteTimes(entries, of: admitted)
        try await inference.observe(
            .uploaded(timestamps: entries.map(\.timestamp)), of: admitted.file.ident, campaign: nil,
            in: admitted.context)
    }

    private func noteTimes(_ entries: ArraySlice<UploadedChangeset>, of admitted: Admitted) {
        let (file, context) = (admitted.file, admitted.context)
        let ahead = AheadTime(entries.lazy.map(\.timestamp), at: clock.changesetNow)
        metrics.ahead(ahead.count, app: admitted.app.id)
        guard !entries.isEmpty, ahead.latest != file.ahead else { return }
        work.change(context).update(file.ident) { $0.ahead = ahead.latest }
        guard file.ahead == nil else { return }
        logger.notice(
            "a client's changesets are dated far ahead",
            metadata: admitted.about([
                "user": "\(file.user)", "until": "\(ahead.latest?.unixMilliseconds ?? 0)",
            ]))
    }

    // MARK: Merging

    /// Integrates an upload of a partition.
    ///
    /// - Throws: `BadChangesetError` or `SchemaRefusedError`; what the message has changed is then to be undone.
    private func integrate(_ admitted: Admitted) async throws {
        let (file, context) = (admitted.file, admitted.context)
        let changesets = try admitted.parts.map { entry, parsed in
            IncomingChangeset(
                entry, parsed: try parsed.get(named: "of client version \(entry.clientVersion)"), from: file.ident)
        }
        let entries = Array(admitted.entries)
        let part = AsideMerge.Upload(
            realm: context.record.id, generation: context.record.generation, clientFile: file.ident,
            recorded: file.progress, head: admitted.upload.head, entries: entries)
        let integration = try await UploadMerge(work: work, file: file, context: context, upload: part).merged(
            changesets)
        if !entries.isEmpty {
            work.cost += Self.cost(toApply: integration.changesets)
            let applied = try await ChangesetApplication(work: work).apply(
                integration.changesets.map(\.changeset), to: context
            ) {
                try await SchemaAdmission(work: work).admit($0, of: file.user, from: admitted.app)
            }
            for (merged, (changeset, applied)) in zip(integration.changesets, applied) {
                work.change(context).append(
                    changeset, origin: file.ident, clientVersion: ClientVersion(merged.version),
                    timestamp: SyncTimestamp(merged.originTimestamp), as: applied)
            }
            try restate(entries, by: file, as: integration.changesets, in: context)
        }
        work.change(context).integrated(
            integration.outcome, of: file.ident, at: work.stamp, isAcknowledged: admitted.isAcknowledged)
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
        work.cost += Self.cost(toApply: changeset)
        let applied = try work.apply(changeset, to: context)
        work.change(context).append(changeset, origin: .server, clientVersion: 0, timestamp: since, as: applied)
    }

    /// Returns the cost of applying and writing an upload: a client can make that as dear as merging.
    private static func cost(toApply changesets: [IncomingChangeset]) -> UInt64 {
        changesets.reduce(100_000) { $0 + cost(toApply: $1.changeset) }
    }

    static func cost(toApply changeset: Changeset) -> UInt64 {
        5_000 + 1_000 * UInt64(changeset.instructions.count)
    }

    /// Returns the least cost of a message if it is an upload: with others, and without merging.
    static func leastCost(of delivery: SliceDelivery) -> UInt64 {
        guard delivery.upload != nil else { return 0 }
        return delivery.changesets.reduce(0) { $0 + ((try? cost(toApply: $1.get())) ?? 0) }
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
