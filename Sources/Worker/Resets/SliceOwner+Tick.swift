import AMQP
import Logging
import Messages
import Storage

extension SliceOwner {
    /// What the clock drives: generations said again, client files expired, inferences settled, histories compacted.
    ///
    /// None of it waits for another: what is stored of one realm may be damaged, and is every tick again.
    func tick(_ message: TickMessage) async throws {
        try await flush()
        tickedAt = message.at
        // Whatever is ended for having waited too long must be old by both clocks: one of them may be wrong.
        let now = min(clock.now(), message.at)
        try tellOfQuietRealms()
        for generation in try await store.appGenerations() {
            let notice = GenerationNotice(
                app: generation.app, slice: slice, generation: generation.generation, campaign: generation.campaign)
            publish(
                Publication(
                    .realms(key: ResetNotice.topicKey(app: generation.app)),
                    try AMQPMessage(notice, persistent: false)))
            try await sparing("client files of app \(generation.app)") {
                try await expire(generation.app, now: now)
            }
        }
        try await sparing("reset cases") { try await settleCases(now: now) }
        try await flush()
        try await sparing("histories") { try await compact(for: limits.compaction.timePerRun) }
        try await sparing("free space") { try await reclaim() }
    }

    /// Does something with what is stored, and goes on if that turns out to be damaged.
    private func sparing(_ what: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            guard isDamage(error) else { throw error }
            logger.error("damaged rows are passed over", metadata: ["of": "\(what)", "error": "\(error)"])
        }
    }

    /// Whether the error is about what was read; what could not be committed is another matter.
    func isDamage(_ error: any Error) -> Bool { !isCommitting && Condemned.isDamage(error) }

    /// Client files that were not seen for the app's maximum offline time cannot come back.
    private func expire(_ id: String, now: UInt64) async throws {
        guard let app = try await apps.app(id), app.maxOfflineDays > 0 else { return }
        let offline = UInt64(app.maxOfflineDays).multipliedReportingOverflow(by: 86_400_000)
        guard !offline.overflow, offline.partialValue < now else { return }
        let files = try await store.idleClientFiles(app: id, seenBefore: now - offline.partialValue, limit: 500)
        guard !files.isEmpty else { return }
        for var file in files {
            file.state = .expired
            pending.clientFiles.append(file)
        }
        metrics.expired(files.count, app: id)
        logger.info("client files expired", metadata: ["app": "\(id)", "count": "\(files.count)"])
        try await flush()
        realms.forget(app: id)
    }
}
