import AMQP
import Changesets
import Documents
import Logging
import Messages
import Operations
import RealmState
import Storage
import SyncModel

/// Makes what operators and backends publish part of its realm: changesets, and writes on documents. Each message is written by the server itself on
/// top of the latest version, all of it or nothing, and its id tells a repetition in the same realm.
///
/// A sender that waits (`reply-to`) hears what became of its event. One that cannot be written is a dead letter only if nobody waits.
struct PublishedEvents: SlicePart {
    let work: SliceWork

    func integrate(_ message: ChangesetMessage, _ delivery: SliceDelivery) async throws {
        try await take(delivery, of: message.realm, entries: message.entries.count) { context, app in
            let changesets = try delivery.changesets.enumerated().map { try $1.get(named: "\($0)") }
            // What a move brings over was taken in long ago, and is all that the app has.
            try await append(
                changesets, of: delivery.id, to: context, of: app, timestamps: message.entries.map(\.timestamp),
                refusingMisfits: app.migration?.isUnderWay != true)
            return Written()
        }
    }

    func integrate(_ message: WriteMessage, _ delivery: SliceDelivery) async throws {
        try await take(delivery, of: message.realm, entries: 1) { context, app in
            var batch = try WriteBatch(writes: message.writes, onlyIf: message.onlyIf)
            if let key = message.partitionKey {
                // Partition sync has the value in the realm's name, and many an app has no property for it.
                batch.leaveOut(key) { context.state.schema.table($0).map { $0.column(key) == nil } ?? false }
            }
            var writing = DocumentWriting(work: work, app: app, context: context)
            if let author = message.author {
                writing.rights = try await AuthorRights(author, in: context, of: app, work: work)
            }
            let recorded = try await writing.record(batch)
            try await append(
                recorded.changesets, of: delivery.id, by: message.author?.user, to: context, of: app)
            return Written(results: recorded.results, declared: recorded.declared)
        }
    }

    /// The results of an event, for its sender.
    private struct Written {
        var results: [WrittenAnswer.Result] = []
        var declared: [String]?
    }

    /// Has an event written, unless it was before, and tells its sender.
    ///
    /// - Parameter write: returns the results of what a `write` message asks for.
    private func take(
        _ delivery: SliceDelivery, of realm: RealmName, entries: Int,
        _ write: (RealmContext, AppRecord) async throws -> Written
    ) async throws {
        do {
            let app = try await app(of: realm, id: delivery.id)
            let mark = delivery.id.map { ChangesetMessage.mark(ofEvent: $0, in: realm) }
            if let mark, try await isRepetition(mark, of: realm, entries: entries, app, delivery) { return }
            let context = try await work.realm(realm, of: app)
            let written = try await write(context, app)
            // With what it stands for, in one commit: the realm may have been restarted, and committed, on the way here.
            if let mark { work.stage { $0.seenMessages.append(mark) } }
            metrics.integrated(entries, app: app.id)
            activity.integrated(entries, into: context.name, at: clock.uptime())
            try answer(
                WrittenAnswer(
                    realm: realm, version: context.record.latest.version, results: written.results,
                    declared: written.declared), delivery)
        } catch let error as DocumentError {
            let answer = WriteRefusedAnswer(
                realm: realm, code: error.code.rawValue, reason: error.description, write: error.write)
            try refuse(answer, delivery)
        } catch let error as SchemaRefusedError {
            try refuse(WriteRefusedAnswer(realm: realm, code: "schema", reason: error.reason), delivery)
        } catch let error as BadChangesetError {
            try refuse(WriteRefusedAnswer(realm: realm, code: "unusable", reason: error.reason), delivery)
        } catch let error as PoisonError {
            try refuse(WriteRefusedAnswer(realm: realm, code: "app", reason: error.reason), delivery)
        }
    }

    private func isRepetition(
        _ mark: String, of realm: RealmName, entries: Int, _ app: AppRecord, _ delivery: SliceDelivery
    ) async throws -> Bool {
        let seen = try await work.isSeen(messageID: mark)
        guard seen.now || seen.before else { return false }
        metrics.duplicates(entries, app: app.id)
        let context = try await work.storedRealm(realm)
        // The owner that dealt with it first may have died before gateways were told.
        if seen.before, let context { work.change(context).tellAgain() }
        let version = context?.record.latest.version ?? 0
        try answer(WrittenAnswer(realm: realm, version: version, isRepetition: true), delivery)
        return true
    }

    /// The app of an event.
    ///
    /// - Parameter id: of the message: while an app moves, only what is copied is written.
    private func app(of realm: RealmName, id: String?) async throws -> AppRecord {
        guard let app = try await work.settings(of: realm.app) else { throw PoisonError.noApp(realm.app) }
        if let migration = app.migration, migration.isUnderWay {
            guard migration.isOwn(id), realm.isFlexible == (migration.target == .flexible) else {
                throw PoisonError(
                    reason: "app \(app.id) is being moved to \(migration.target.rawValue) sync", app: app.id)
            }
            return app
        }
        guard realm.isFlexible == (app.syncMode == .flexible) else {
            throw PoisonError(
                reason: "app \(app.id) uses \(app.syncMode.rawValue) sync, and the message is for realm \(realm)",
                app: app.id)
        }
        return app
    }

    /// Appends versions.
    ///
    /// - Parameters:
    ///   - event: the message's id.
    ///   - user: for whom it is written; nil: the operator, who may always change the schema.
    ///   - timestamps: when each was written; 0, or none: now.
    private func append(
        _ changesets: [Changeset], of event: String?, by user: String? = nil, to context: RealmContext,
        of app: AppRecord, timestamps: [SyncTimestamp] = [], refusingMisfits: Bool = true
    ) async throws {
        guard !changesets.isEmpty else { return }
        let applied = try await ChangesetApplication(work: work).apply(
            changesets, to: context, refusingMisfits: refusingMisfits
        ) {
            let admission = SchemaAdmission(work: work)
            if let user {
                try await admission.admit($0, of: user, from: app)
            } else {
                try await admission.extend(app, by: $0)
            }
        }
        for (index, (changeset, applied)) in applied.enumerated() {
            let timestamp = index < timestamps.count ? timestamps[index] : 0
            work.change(context).append(
                changeset, origin: .server, clientVersion: 0,
                timestamp: timestamp == 0 ? clock.changesetNow : timestamp, as: applied, event: event)
        }
    }

    // MARK: Answers

    private func answer(_ answer: some Message, _ delivery: SliceDelivery) throws {
        guard let address = delivery.sender else { return }
        try work.reply(answer, to: address)
    }

    /// Undoes what an event has changed, and tells its sender why.
    ///
    /// - Throws: `PoisonError` if nobody waits to be told.
    private func refuse(_ refusal: WriteRefusedAnswer, _ delivery: SliceDelivery) throws {
        guard delivery.sender != nil else { throw PoisonError(reason: refusal.reason, app: refusal.realm.app) }
        work.undo()
        metrics.eventRefused(app: refusal.realm.app)
        logger.notice(
            "event refused",
            metadata: .about(
                refusal.realm,
                ["message": "\(delivery.id ?? "")", "code": "\(refusal.code)", "reason": "\(refusal.reason)"]))
        try answer(refusal, delivery)
    }
}

extension SliceDelivery {
    /// Where the sender of an event waits for an answer; nil if nobody does.
    fileprivate var sender: ReplyAddress? {
        guard let queue = original.properties.replyTo, !queue.isEmpty else { return nil }
        return ReplyAddress(queue: queue, correlationID: original.properties.correlationID ?? id)
    }
}
