import Storage
import SyncModel

extension SliceScope {
    /// Everything that only a slice's owner asks for. Where the contract promises no order, what is found is sorted.
    func agenda(of store: any SliceStore, _ probe: SliceProbe) async throws -> [Reading] {
        let (limit, time) = (probe.limit, probe.time)
        let outbox = try await store.outbox(after: 0, maxBytes: .max)
        let middle = outbox.isEmpty ? 0 : outbox[outbox.count / 2].number
        let rest = try await store.outbox(after: middle, maxBytes: probe.maxBytes)
        let forgettable = try await store.forgettableClientFiles(seenBefore: time, limit: .max)
        let usage = try await store.forgettableUsage(before: 10 * UInt64(UserUsage.halfLife), limit: .max)
        let usageOf = try await store.read(SliceLookup(userUsage: Set(usage))).userUsage
        var readings = [
            Reading("next realm", try await store.nextRealmID()),
            Reading("generations", try await store.appGenerations()),
            Reading("page of generations", try await store.appGenerations(after: Self.apps[1], limit: 1)),
            Reading("terminations", try await store.terminations(since: 0, limit: .max)),
            Reading("page of terminations", try await store.terminations(since: time, limit: limit)),
            Reading("termination steps", try await store.terminationSteps()),
            Reading("held resets", try await store.resetHolds()),
            Reading("due reset cases", try await store.dueResetCases(at: .max >> 1, limit: .max)),
            Reading("page of due reset cases", try await store.dueResetCases(at: time, limit: limit)),
            Reading("client files to forget", forgettable.sorted { $0.place < $1.place }),
            Reading("users to forget", Set(usage)), Reading("since when", usage.map { usageOf[$0]?.at }),
            // The numbers of the outbox records are the engine's own.
            Reading("outbox", outbox.map(\.record)), Reading("page of the outbox", rest.map(\.record)),
            Reading("unswept erasures", try await store.unsweptErasures(limit: .max)),
            Reading("page of unswept erasures", try await store.unsweptErasures(limit: limit)),
            Reading("erasures", try await store.erasures(since: 0, limit: .max)),
            Reading("page of erasures", try await store.erasures(since: time, limit: limit)),
            Reading("swept erasures", try await store.sweptErasures(before: time, limit: .max).byRealm),
            Reading("erased apps", try await store.appErasures()),
            Reading("restore", try await store.restore()), Reading("cluster", try await store.cluster()),
        ]
        for app in Self.apps {
            readings += [
                Reading(
                    "idle client files of \(app)",
                    try await store.idleClientFiles(app: app, seenBefore: time, limit: limit)),
                Reading("erasures of \(app)", try await store.erasures(ofApp: app, limit: .max).byRealm),
                Reading("realms of \(app)", try await store.realms(ofApp: app, limit: .max).sorted { $0.id < $1.id }),
                Reading("number of realms of \(app)", try await store.countRealms(ofApp: app)),
                Reading(
                    "number to reset of \(app)", try await store.countClientFiles(app: app, state: .resetRequired)),
            ]
        }
        // The memory cuts its page before it leaves out the client files of erased realms.
        let isWhole = try await store.unsweptErasures(limit: 1).isEmpty
        for campaign in campaigns.suffix(2) {
            readings += [
                Reading("generation of \(campaign)", try await store.appGeneration(campaign: campaign)),
                Reading(
                    "client files of \(campaign)",
                    try await store.clientFiles(campaign: campaign, after: nil, limit: .max)),
                Reading(
                    "page of client files of \(campaign)",
                    try await store.clientFiles(campaign: campaign, after: files.first, limit: isWhole ? limit : .max)),
                Reading("number of client files of \(campaign)", try await store.countClientFiles(campaign: campaign)),
            ]
        }
        return readings
    }

    /// What keeps one realm's history small, and what an erasure of it would take away.
    func upkeep(of store: any SliceStore, in realm: RealmID, _ probe: SliceProbe) async throws -> [Reading] {
        var readings = [
            Reading("client files to reset in \(realm)", try await store.countClientFiles(in: realm)),
            Reading("needed history of \(realm)", try await store.neededHistory(of: realm, generation: 1)),
        ]
        for base in try await store.bases(of: realm) {
            readings.append(Reading("\(base) is needed", try await store.isNeeded(base)))
        }
        for key in histories where key.realm == realm {
            let stretch = try await store.historyStretch(
                of: key, after: 1, through: 50, maxVersions: probe.limit, maxBytes: UInt64(probe.maxBytes))
            readings.append(Reading("stretch of \(key)", stretch))
        }
        for name in Self.names.prefix(4) {
            readings.append(Reading("erasures of \(name)", try await store.erasures(of: name)))
        }
        return readings
    }
}

extension ListedClientFile {
    fileprivate var place: (RealmID, FileIdent) { (record.realm, record.ident) }
}

extension [ErasureRecord] {
    fileprivate var byRealm: [ErasureRecord] { sorted { $0.realm < $1.realm } }
}
