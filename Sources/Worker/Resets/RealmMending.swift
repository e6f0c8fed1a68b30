import Changesets
import Logging
import Operations
import RealmState
import Storage
import SyncModel

/// Takes what stock clients cannot apply (`Misfit`) out of a realm: by versions of the server's own, which every client can apply, and by a base
/// without it, which clients begin with that reset. All in the turn of one message, a page at a time.
struct RealmMending: SlicePart {
    let work: SliceWork

    /// - Parameter campaign: by which the realm's clients reset afterwards. The realm is mended for it once.
    /// - Throws: `PoisonError` if the realm is of an earlier generation than its app, and begins anew when it is next used.
    func mend(_ context: RealmContext, of app: AppRecord, campaign: String) async throws {
        let pass = "mend \(campaign) of realm \(context.record.id)"
        guard try await !work.isSeen(messageID: pass).before else { return }
        guard try await context.record.generation >= work.generation(of: app).generation else {
            throw PoisonError(
                reason:
                    "realm \(context.name.partition) begins anew since sync of app \(app.id) was terminated; mend it again once a client"
                    + " has used it", app: app.id)
        }
        let objects = try await mendObjects(of: context)
        if !context.name.isFlexible { try await writeBase(of: context) }
        work.stage { $0.seenMessages.append(pass) }
        try await work.flush()
        logger.notice(
            "realm mended",
            metadata: .about(context.name, campaign: campaign, ["objects": "\(objects)"]))
    }

    /// - Returns: how many objects had something that stock clients cannot apply.
    private func mendObjects(of context: RealmContext) async throws -> Int {
        var last: ObjectRow?
        var count = 0
        while true {
            let page = try await store.objects(
                in: context.record.id, after: last, maxBytes: limits.compaction.pageBytes)
            guard let end = page.last?.row else { return count }
            last = end
            let schema = context.state.schema
            var builder = StateChangesets(schema: schema)
            var changesets: [Changeset] = []
            for (row, body) in page {
                guard let table = schema.table(TableID(rawValue: row.table)) else { continue }
                let address = ObjectAddress(table.name, row.key)
                let object = try SliceWork.object(body, of: context.name)
                guard !object.misfits(address, in: schema).isEmpty else { continue }
                count += 1
                changesets += builder.append(mending: address, object)
            }
            if let rest = builder.finish() { changesets.append(rest) }
            guard !changesets.isEmpty else { continue }
            try await work.load(changesets, into: context)
            for changeset in changesets {
                let applied = try work.apply(changeset, to: context)
                work.change(context).append(
                    changeset, origin: .server, clientVersion: 0, timestamp: clock.changesetNow, as: applied)
            }
            try await work.flush()
        }
    }

    /// Writes a base of the realm as it is now.
    private func writeBase(of context: RealmContext) async throws {
        await work.memory.compaction.stopWriting(of: context.record.id)
        // A base has a version of its own, and no more changesets than versions: one of the schema, and what follows.
        repeat { work.appendNothing(to: context) } while context.record.latest.version < 3
        try await work.flush()
        let writer = BaseWriter(store: store, epoch: work.environment.epoch, limits: limits.compaction, clock: clock)
        _ = try await writer.write(context.name)
    }
}
