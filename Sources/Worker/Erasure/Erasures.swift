import Logging
import Messages
import Operations
import Storage
import SyncModel

/// Takes realms and apps away.
///
/// The message only records it: the realm's heading goes in the same commit, so from then on there is no such realm, in order
/// with everything else in the slice's queue. What was stored of it goes afterwards, between messages (`ErasureJob`).
struct Erasures: SlicePart {
    let work: SliceWork

    /// Takes a realm away. Known by its campaign: given twice it takes nothing more, least of all a realm that has come into
    /// being under the name since.
    func erase(_ message: EraseMessage, messageID: String?) async throws {
        guard let app = try await work.latestSettings(of: message.realm.app) else {
            throw PoisonError.noApp(message.realm.app)
        }
        let campaign = try PoisonError.required(message.campaign ?? messageID, of: "an erasure", app: app.id)
        try work.requireNoTermination(of: app.id)
        try await work.flush()
        guard try await !store.erasures(of: message.realm).contains(where: { $0.campaign == campaign }) else { return }
        Resets(work: work).keep(reason: message.reason, of: campaign)
        if let user = message.user.map({ AppUser(app: app.id, user: $0) }) {
            work.stage {
                $0.seenMessages.append(Self.departure(of: user))
                $0.usageRemovals.append(user)
            }
            work.memory.usage.forget(user)
        }
        guard let context = try await work.storedRealm(message.realm) else {
            let generation = try await work.generation(of: app).generation
            return try work.reportOnce(
                found(campaign, of: message.realm, generation, reason: message.reason, chunk: 0, chunks: 1, []))
        }
        try await erase(context.record, campaign: campaign)
        if app.changeFeed.isOn {
            let now = clock.now()
            let history = try await work.history(of: app)
            var told: [Publication] = []
            work.stage {
                told = ChangeRecord.stage(
                    [context.erasureChange(of: history, at: now)], of: message.realm, at: now, in: &$0)
            }
            told.forEach(work.publish)
        }
        try await work.flush()
        try tell(
            of: context.record.name, generation: context.record.generation, below: context.record.nextIdent, campaign)
    }

    /// Whether a user's own realms were erased with the user. A session of that user may be open a moment longer, or its BIND be on
    /// its way: it makes none of them anew.
    func hasGone(_ user: AppUser) async throws -> Bool {
        let (now, before) = try await work.isSeen(messageID: Self.departure(of: user))
        return now || before
    }

    /// What is remembered of a user who was deleted, as long as of messages.
    private static func departure(of user: AppUser) -> String { "user \(user.user) of app \(user.app) was deleted" }

    /// Everything of an app that was deleted goes.
    func erase(_ message: EraseAppMessage) async throws {
        guard try await work.latestSettings(of: message.app) == nil else {
            throw PoisonError(
                reason: "app \(message.app) exists: it is to be deleted first, with: sluice apps delete \(message.app)",
                app: message.app)
        }
        try work.requireNoTermination(of: message.app)
        try await work.flush()
        work.memory.realms.forget(app: message.app)
        work.memory.restarts.forget(app: message.app)
        work.memory.generations[message.app] = nil
        let known = try await store.appErasures().first { $0.app == message.app }
        let record = known ?? AppErasureRecord(app: message.app)
        work.stage { $0.appErasures.append(record) }
        work.memory.erasure.isBehind = true
        logger.notice("app is erased", metadata: ["app": "\(message.app)"])
        try await work.flush()
    }

    /// Takes a realm's name and heading away with the next commit.
    ///
    /// - Parameter campaign: who accounts for its clients; nil: nobody.
    func erase(_ realm: RealmRecord, campaign: String?) async throws {
        await work.memory.compaction.stopWriting(of: realm.id)
        let record = ErasureRecord(
            realm: realm.id, name: realm.name, generation: realm.generation, version: realm.latest.version,
            schema: realm.schema, nextIdent: realm.nextIdent, campaign: campaign, at: clock.now(),
            found: campaign == nil ? 0 : try await store.countClientFiles(in: realm.id))
        work.memory.realms.forget(realm.name)
        work.memory.restarts.forget(realm.name)
        work.stage { $0.erasures.append(record) }
        work.memory.erasure.isBehind = true
        metrics.erased(app: realm.name.app)
        logger.notice(
            "realm erased",
            metadata: .about(
                realm.name,
                [
                    "campaign": "\(campaign ?? "")",
                    "version": "\(realm.latest.version)",
                ]))
    }

    // MARK: Telling

    /// Has gateways tell the sessions that still have the erased realm: those of idents that it gave out.
    func tell(of name: RealmName, generation: UInt64, below ident: FileIdent, _ campaign: String) throws {
        let notice = ResetNotice(
            app: name.app, partition: name.partition, slice: slice, generation: generation, clientFile: nil,
            campaign: campaign, code: .badClientFileIdent, message: ResetReason.erased, identsBelow: ident)
        try work.publish(notice, to: ResetNotice.topicKey(app: name.app))
    }

    /// Says of the latest erasures once more what sessions may have missed.
    func tellAgain(now: UInt64) async throws {
        let since = now &- min(now, ErasureState.toldFor)
        for record in try await store.erasures(since: since, limit: ErasureState.maxTold) {
            guard let campaign = record.campaign else { continue }
            try tell(of: record.name, generation: record.generation, below: record.nextIdent, campaign)
        }
    }

    /// A part of what the campaign is told of.
    func found(
        _ campaign: String, of name: RealmName, _ generation: UInt64, reason: String?, chunk: Int, chunks: Int,
        _ files: [ClientFileRecord]
    ) -> FoundReport {
        FoundReport(
            kind: EraseMessage.kind, campaign: campaign, app: name.app, slice: slice, generation: generation,
            reason: reason, chunk: chunk, chunks: chunks,
            clientRealms: FoundReport.ClientRealm.found(files.map { ListedClientFile(name: name, record: $0) }))
    }
}

extension EraseMessage {
    /// The kind of an erasure's campaign, as reports name it.
    static let kind = "erasure"
}

/// What an owner knows of erasing beside the store.
struct ErasureState {
    /// The time for which each tick tells sessions of an erasure, in milliseconds; one tick tells of at most `maxTold` erasures.
    static let toldFor: UInt64 = 600_000
    static let maxTold = 100

    /// Something may be left to be done; an owner that has just taken its slice does not know.
    var isBehind = true
}
