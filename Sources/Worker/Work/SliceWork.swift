import AMQP
import Changesets
import Foundation
import Logging
import Messages
import Operations
import Storage
import SyncModel

/// The unit of work of one batch: what its messages have read, what they have changed, and what is to be published once that is
/// durable.
///
/// Each message's changes are kept apart until it is through. `keep` adds them to those of the messages before it, `undo` drops
/// them, and either costs only what that message has changed. One commit writes what was kept; if it fails, the whole unit of
/// work and the memory of its realms go.
final class SliceWork {
    let environment: SliceEnvironment
    let memory: SliceMemory
    /// The publications whose commit is through.
    private(set) var published: [Publication] = []
    var cases = ResetCases()
    /// The cost of the messages so far, as far as clients can make that dear, in steps of merging (`MergeMeter`).
    var cost: UInt64 = 0
    /// The part of the cost that was or is to be done beside the slice: owed like the others, though nobody waits for it.
    var costAside: UInt64 = 0
    /// The bytes of what messages have done to documents, as it is told to those who follow their apps.
    var changeBytes = 0
    /// The steps after which a merge is to go on beside the slice.
    var mergePatience: UInt64 = .max
    /// Whether a look at views that takes long goes on beside the slice.
    var looksMayWait = false

    /// Changes beside realms and reset cases, and the publications that belong to them.
    private struct Effects {
        var batch = SliceBatch()
        var publications: [Publication] = []
        var realms: [RealmContext] = []
    }

    /// The effects of the message in hand.
    private var current = Effects()
    /// The effects of the messages before it, since the last commit.
    private var kept = Effects()
    private var seen: Set<String> = []
    /// Users whose additions the next commit writes.
    private var usersDue: Set<AppUser> = []
    private var settings: [String: AppRecord] = [:]
    /// The rows that were read ahead; they hold until the next commit.
    private(set) var ahead = ReadAhead()

    init(_ environment: SliceEnvironment, _ memory: SliceMemory) {
        self.environment = environment
        self.memory = memory
    }

    private var store: any SliceStore { environment.store }

    /// Now, as it is recorded to wait from: not before the coordinator's last tick, so that a clock that was put back makes
    /// nobody look long gone.
    var stamp: UInt64 { max(environment.clock.now(), memory.tickedAt) }

    /// An app's settings; the same until the next commit.
    func settings(of id: String) async throws -> AppRecord? {
        if let known = settings[id] { return known }
        // Another slice's owner in this process may have read them a moment before an owner elsewhere saw newer rules in this
        // slice's queue: the first reading is an owner's own.
        return memory.rules.knows(id) && memory.users.knows(id)
            ? keep(try await environment.apps.app(id), of: id) : try await latestSettings(of: id)
    }

    /// An app's settings as they are now.
    func latestSettings(of id: String) async throws -> AppRecord? {
        keep(try await environment.apps.latest(id), of: id)
    }

    private func keep(_ found: AppRecord?, of id: String) -> AppRecord? {
        settings[id] = found
        if found != nil { environment.metrics.see(app: id) }
        memory.rules.see(found, of: id)
        memory.users.see(found?.usersVersion ?? 0, of: id, createdAt: found?.createdAt ?? 0)
        return found
    }

    // MARK: Reading

    /// Reads what messages to come name, in one call.
    func read(ahead lookup: SliceLookup) async throws(StoreError) -> SliceFindings {
        guard !lookup.isEmpty else { return SliceFindings() }
        let found = try await store.read(lookup)
        ahead.add(found, of: lookup)
        return found
    }

    /// Whether a message has had its effect already.
    func isSeen(messageID id: String) async throws -> (now: Bool, before: Bool) {
        if seen.contains(id) { return (true, false) }
        if let known = ahead.isSeen(id) { return (false, known) }
        return (false, try await store.isSeen(messageID: id))
    }

    /// Returns the client files of a user that have to do with resets; those included that a termination's job has not come to.
    func resets(of user: String, in context: RealmContext) async throws -> SliceFindings.UserResets {
        let user = RealmUser(realm: context.record.id, user: user)
        var found = if let known = ahead.found.users[user] { known } else { try await store.resets(of: user) }
        found.waiting = found.waiting.map { marked($0, of: context.name.app) }.filter { $0.state == .resetRequired }
        return found
    }

    // MARK: Changing

    /// The realm, to be changed by the message in hand and written with the next commit.
    func change(_ context: RealmContext) -> RealmContext {
        if context.begin() {
            current.realms.append(context)
            // A commit in between may have let go of it.
            memory.realms.hold(context)
        }
        return context
    }

    /// Appends a version that says nothing.
    ///
    /// - Returns: its timestamp.
    @discardableResult
    func appendNothing(to context: RealmContext) -> SyncTimestamp {
        let timestamp = environment.clock.changesetNow
        change(context).append(Changeset(), origin: .server, clientVersion: 0, timestamp: timestamp)
        return timestamp
    }

    /// Changes what the next commit writes beside realms and reset cases.
    func stage(_ change: (inout SliceBatch) -> Void) { change(&current.batch) }

    /// Has the next commit write what a user has added.
    func writeUsage(of user: AppUser) { usersDue.insert(user) }

    /// Publishes after the commit.
    func publish(_ publication: Publication) { current.publications.append(publication) }

    /// Publishes to the gateways that have sessions of a realm or an app.
    func publish(_ notice: some Message, to key: String) throws {
        publish(Publication(.realms(key: key), try AMQPMessage(notice, persistent: false)))
    }

    /// Publishes after the commit, by this owner or a later one, what nothing would make again: reports of a transition, whose
    /// message finds the transition made when it comes again. The commit that holds the transition holds them, too, until they
    /// have arrived.
    func publishOnce(_ publication: Publication) throws {
        guard let stored = StoredPublication(publication) else { return publish(publication) }
        var publication = publication
        let id = UUID().uuidString
        publication.outboxID = id
        current.batch.outbox.append(OutboxRecord(id: id, body: try stored.encoded()))
        publish(publication)
    }

    /// Tells the coordinator of a transition.
    func reportOnce(_ report: some Message) throws {
        try publishOnce(Publication(.outcomes, try AMQPMessage(report)))
    }

    func reply(_ answer: some Message, to address: ReplyAddress) throws {
        let message = try AMQPMessage(answer, correlationID: address.correlationID, persistent: false)
        publish(Publication(.queue(address.queue), message))
    }

    /// Puts a message in the dead-letter queue: the same effect as a rejection, with the reason attached. Of what a client has
    /// written an excerpt is kept, and of an app's clients no more than `DeadLetterBudget` allows.
    ///
    /// - Parameter isOnce: the message, if it comes again, is not looked at any more.
    func setAside(_ delivery: SliceDelivery, reason: String, app: String?, isOnce: Bool = false) throws {
        let message = delivery.original
        // As an envelope tells: a shell's message has its type and its id in the body.
        let envelope = try? Envelope(of: message)
        var metadata: Logger.Metadata = [
            "type": "\(envelope?.type ?? message.properties.type ?? "not known")", "app": "\(app ?? "")",
            "reason": "\(reason)", "message": "\(envelope?.id ?? message.properties.messageID ?? "none")",
        ]
        environment.metrics.deadLettered(app: app)
        let writer = delivery.writer
        if let writer,
            case .drop(let isFirst) = memory.deadLetters.take(writer.realm.app, at: environment.clock.uptime())
        {
            environment.metrics.notKept(app: app)
            if isFirst {
                environment.logger.error(
                    "uploads that cannot be used are no longer kept for a while: this app's clients send too many",
                    metadata: metadata)
            }
            return
        }
        let draft = DeadLetterDraft(
            message, reason: reason, queue: environment.topology.slice(store.slice), app: app, writer: writer,
            diedAt: environment.clock.now())
        metadata["letter"] = "\(DeadLetter(draft.letter).name)"
        environment.logger.error("message set aside in the dead-letter queue", metadata: metadata)
        let publication = Publication(.dead, draft.letter)
        environment.metrics.setAside(bytes: publication.message.body.count, app: app)
        if isOnce { try publishOnce(publication) } else { publish(publication) }
    }

    /// Puts a message back at the end of the slice's queue, for an owner of a newer version to take.
    func giveBack(_ delivery: SliceDelivery) {
        environment.metrics.gaveBackNewer()
        publish(Publication(.slice(store.slice), delivery.original.returned()))
        keep()
    }

    // MARK: One message

    /// The message in hand is through.
    func keep() {
        for context in current.realms where context.keep() { kept.realms.append(context) }
        cases.keep()
        seen.formUnion(current.batch.seenMessages)
        kept.batch.append(current.batch)
        kept.publications += current.publications
        current = Effects()
    }

    /// The message in hand has changed nothing, as far as that was not committed already.
    func undo() {
        for context in current.realms {
            context.undo()
            if context.isNew { memory.realms.forget(context) }
        }
        cases.undo()
        memory.quiet.dropped()
        current = Effects()
    }

    // MARK: Committing

    /// Commits what all messages up to here have changed, the one in hand included, and lines up what is to be published.
    ///
    /// - Throws: `CommitError`; the unit of work is then of no more use.
    func flush() async throws(CommitError) {
        keep()
        do {
            try await commitKept()
        } catch {
            throw error as? CommitError ?? CommitError(underlying: error)
        }
    }

    private func commitKept() async throws {
        var batch = kept.batch
        let arrived = memory.outbox.arrived
        batch.outboxRemovals = Array(arrived)
        var toll = CommitToll()
        for context in kept.realms { toll.wrote(context.gather(into: &batch), for: context.name) }
        let changes = kept.realms.flatMap {
            ChangeRecord.stage($0.takeChanges(), of: $0.name, at: environment.clock.now(), in: &batch)
        }
        batch.resetCases += try cases.records()
        batch.usage = memory.usage.add(kept.batch.usage, due: usersDue)
        batch.usageAt = environment.clock.now()
        if !batch.isEmpty {
            let (start, uptime) = (ContinuousClock.now, environment.clock.uptime())
            try await commit(batch)
            environment.metrics.committed(in: start.duration(to: .now))
            let held = Duration.milliseconds(environment.clock.uptime() &- uptime)
            for (realm, milliseconds) in toll.owed(after: held) {
                memory.shares.owes(milliseconds: milliseconds, realm)
            }
            memory.outbox.arrived.subtract(arrived)
            memory.usage.written(batch.usage, at: batch.usageAt)
        }
        let limits = environment.limits
        for context in kept.realms {
            if let notice = context.notice(limits: limits) {
                var message = try AMQPMessage(notice, persistent: false)
                message.note(context.noticedEvents())
                published.append(Publication(.realms(key: context.name.topicKey), message))
                environment.logger.debug(
                    "gateways hear of a commit",
                    metadata: .about(
                        context.name,
                        ["follows": "\(notice.follows)", "server_version": "\(notice.latest.version)"]))
                memory.quiet.changed(
                    context.name, .init(generation: context.record.generation, latest: context.record.latest))
            }
            context.committed(limits: limits)
        }
        if !kept.realms.isEmpty { memory.realms.trim(to: limits) }
        published += changes
        published += kept.publications
        kept = Effects()
        cases = ResetCases()
        seen = []
        usersDue = []
        settings = [:]
        ahead = ReadAhead()
    }

    /// Commits at once what belongs to no message's changes, in steps of bounded size.
    func commit(_ batch: SliceBatch) async throws(CommitError) {
        do throws(StoreError) {
            try await store.commit(batch, epoch: environment.epoch)
        } catch {
            throw CommitError(underlying: error)
        }
        ahead = ReadAhead()
    }

    // MARK: Outbox

    /// Whether the outbox holds more than could be lined up at once. Nothing else may be published before it.
    var hasMoreLeftovers: Bool { memory.outbox.mayHoldLeftovers }

    /// Lines up what the outbox holds that is not known to have arrived, up to a batch's size at once.
    func publishLeftovers() async throws {
        guard memory.outbox.mayHoldLeftovers else { return }
        let maxBytes = environment.limits.maxBatchBytes
        let rows = try await store.outbox(after: memory.outbox.lastRead, maxBytes: maxBytes)
        memory.outbox.lastRead = rows.last?.number ?? memory.outbox.lastRead
        memory.outbox.mayHoldLeftovers = rows.reduce(0) { $0 + $1.record.body.count + 64 } >= maxBytes
        for (_, record) in rows where !memory.outbox.arrived.contains(record.id) {
            if let changes = ChangeRecord(decoding: record.body) {
                published += changes.publications(outboxID: record.id)
                continue
            }
            do {
                var publication = try StoredPublication(decoding: record.body).publication
                publication.outboxID = record.id
                published.append(publication)
            } catch {
                environment.logger.error(
                    "a message in the outbox cannot be read; it stays there",
                    metadata: ["id": "\(record.id)", "error": "\(error)"])
            }
        }
        if !published.isEmpty {
            environment.logger.notice(
                "publishing what was left to publish", metadata: ["count": "\(published.count)"])
        }
    }
}

/// A commit has failed: what it would have written is of many messages, and none of them counts.
struct CommitError: Error {
    var underlying: any Error
}

extension SliceBatch {
    /// Adds what a message changes beside realms and reset cases.
    fileprivate mutating func append(_ other: SliceBatch) {
        terminations += other.terminations
        terminationSteps += other.terminationSteps
        terminationStepsDone += other.terminationStepsDone
        usageRemovals += other.usageRemovals
        reasons.merge(other.reasons) { first, _ in first }
        erasures += other.erasures
        erasureRemovals += other.erasureRemovals
        appErasures += other.appErasures
        appRemovals += other.appRemovals
        bases += other.bases
        indexRemovals.merge(other.indexRemovals) { $0.union($1) }
        indexEntries.merge(other.indexEntries) { $0.union($1) }
        history.merge(other.history) { $1 }
        historyDigests += other.historyDigests
        clientFiles += other.clientFiles
        clientFileRemovals += other.clientFileRemovals
        resetCases += other.resetCases
        resetHolds.merge(other.resetHolds) { $1 }
        seenMessages += other.seenMessages
        for (user, amounts) in other.usage { usage[user, default: UsageAmounts()] += amounts }
        outbox += other.outbox
    }
}
