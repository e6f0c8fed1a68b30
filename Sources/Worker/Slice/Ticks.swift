import Logging
import Messages
import Storage
import SyncModel

/// The work that the clock drives.
struct Ticks: SlicePart {
    let work: SliceWork

    /// Generations are said again, client files expired, inferences settled, histories compacted.
    ///
    /// None of it waits for another: what is stored of one realm may be damaged, and is every tick again.
    func tick(_ message: TickMessage) async throws {
        try await work.flush()
        work.memory.tickedAt = message.at
        // Whatever is ended for having waited too long must be old by both clocks: one of them may be wrong.
        let now = min(clock.now(), message.at)
        try await Resets(work: work).loadBrakes()
        try tellOfQuietRealms()
        try await Erasures(work: work).tellAgain(now: clock.now())
        try await goThroughApps(now: now)
        try await sparing("old client files") { try await forget(now: now) }
        try await sparing("what users have added") { try await forgetUsage(now: now) }
        try await sparing("reset cases") { try await inference.settleCases(now: now) }
        try await work.flush()
        let compaction = Compaction(work: work)
        try await sparing("histories") { try await compaction.compact(for: limits.compaction.timePerRun) }
        try await sparing("free space") { try await compaction.reclaim() }
    }

    /// Says the generations again and expires client files: of the apps with a new generation at every tick, of all others in turn.
    /// So a tick costs as much in a slice of many apps as in a slice of some.
    ///
    /// Who has missed a new generation hears of it with the next tick. After an hour everybody has, but for sessions whose gateway
    /// had lost every notice: these hear of it when it is their app's turn, and whatever they send is answered by it at once.
    private func goThroughApps(now: UInt64) async throws {
        let since = clock.now() &- min(clock.now(), Self.recentGeneration)
        var told: Set<String> = []
        for generation in try await store.terminations(since: since, limit: Self.recentGenerations)
        where told.insert(generation.app).inserted {
            try tell(generation)
        }
        let page = try await store.appGenerations(after: work.memory.lastApp, limit: Self.appsAtOnce)
        work.memory.lastApp = page.count < Self.appsAtOnce ? nil : page.last?.app
        for generation in page {
            if told.insert(generation.app).inserted { try tell(generation) }
            try await sparing("client files of app \(generation.app)") {
                try await expire(generation.app, now: now)
            }
        }
    }

    /// How long a generation is said again with every tick, in milliseconds; and how many are at most.
    private static let recentGeneration: UInt64 = 3_600_000
    private static let recentGenerations = 100
    /// Apps whose turn it is with one tick.
    static let appsAtOnce = 20

    private func tell(_ generation: AppGenerationRecord) throws {
        let notice = GenerationNotice(
            app: generation.app, slice: slice, generation: generation.generation, campaign: generation.campaign)
        try work.publish(notice, to: ResetNotice.topicKey(app: generation.app))
    }

    /// Does something with what is stored, and goes on if that turns out to be damaged.
    private func sparing(_ what: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard MessageHandler.isDamage(error) else { throw error }
            logger.error("damaged rows are passed over", metadata: ["of": "\(what)", "error": "\(error)"])
        }
    }

    /// Has gateways told once more where realms stand that have come to rest.
    private func tellOfQuietRealms() throws {
        for (name, position) in work.memory.quiet.tick() {
            let notice = IntegratedNotice(
                realm: name, generation: position.generation, follows: position.latest.version,
                latest: position.latest, entries: [], acknowledgements: [])
            try work.publish(notice, to: name.topicKey)
        }
    }

    /// Client files that reset, or were to, and whose clients were not seen for very long since leave nothing behind: who comes
    /// back all the same resets as an unknown one. Likewise with realms that were erased long ago.
    private func forget(now: UInt64) async throws {
        guard let age = limits.clientFileLifetime?.milliseconds, age < now else { return }
        // What a termination has yet to find stays until then.
        let files = try await store.forgettableClientFiles(seenBefore: now - age, limit: 500)
            .filter { work.memory.terminations[$0.name.app] == nil }
        let erasures = try await store.sweptErasures(before: now - age, limit: 500)
        guard !files.isEmpty || !erasures.isEmpty else { return }
        work.stage {
            $0.clientFileRemovals += files.map(\.record.key)
            $0.erasureRemovals += erasures.map(\.realm)
        }
        try await work.flush()
        for file in files {
            work.memory.realms[file.name]?.forget(file.record.ident)
            metrics.forgotten(app: file.name.app)
        }
    }

    /// Forgets what users have added so long ago that too little of it still counts to keep it.
    private func forgetUsage(now: UInt64) async throws {
        let age = UInt64(UserUsage.halfLife) * UInt64(UserUsage.rememberedHalfLives)
        guard age < now else { return }
        let users = try await store.forgettableUsage(before: now - age, limit: 500)
        guard !users.isEmpty else { return }
        work.stage { $0.usageRemovals += users }
        try await work.flush()
    }

    /// Client files that were not seen for the app's maximum offline time cannot come back.
    private func expire(_ id: String, now: UInt64) async throws {
        // While a termination goes on, the client files that it has yet to mark are reset for it, not expired.
        guard work.memory.idleLooks.isDue(id, at: clock.uptime()), work.memory.terminations[id] == nil,
            let app = try await apps.app(id), app.maxOfflineDays > 0
        else {
            return
        }
        let offline = UInt64(app.maxOfflineDays).multipliedReportingOverflow(by: 86_400_000)
        guard !offline.overflow, offline.partialValue < now else { return }
        let files = try await store.idleClientFiles(app: id, seenBefore: now - offline.partialValue, limit: 500)
        if files.count < 500 { work.memory.idleLooks.foundAll(of: id, at: clock.uptime()) }
        guard !files.isEmpty else { return }
        for var file in files {
            file.state = .expired
            work.stage { [file] in $0.clientFiles.append(file) }
        }
        metrics.expired(files.count, app: id)
        logger.info("client files expired", metadata: ["app": "\(id)", "count": "\(files.count)"])
        try await work.flush()
        work.memory.realms.forget(app: id)
    }
}
