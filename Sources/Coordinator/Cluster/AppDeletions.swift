import Logging
import Messages
import Storage
import Synchronization

/// Carries deletions of apps on: has the slices erase what they have of each app, removes what the control store has, and then
/// the dead letters. Each step may be done twice; whoever is the active coordinator goes on.
final class AppDeletions: Sendable {
    /// Rows that one transaction removes, and how long the removing takes of a beat.
    static let rowsPerStep = 500
    static let timePerBeat = Duration.milliseconds(500)
    /// Milliseconds after which slices that have not reported are asked again.
    static let patience: UInt64 = 60_000
    /// Dead letters looked through.
    static let maxLetters = 20_000

    private let askedAt = Mutex<[String: UInt64]>([:])

    /// What the active coordinator does with each beat.
    func keepUp(_ context: CoordinatorContext) async throws {
        let deletions = try await context.store.unfinishedDeletions()
        CoordinatorMetrics.deletions(deletions.count)
        askedAt.withLock { asked in asked = asked.filter { entry in deletions.contains { $0.app == entry.key } } }
        let deadline = ContinuousClock.now + Self.timePerBeat
        for deletion in deletions { try await goOn(with: deletion, until: deadline, context) }
    }

    private func goOn(
        with deletion: AppDeletionRecord, until deadline: ContinuousClock.Instant, _ context: CoordinatorContext
    ) async throws {
        let app = deletion.app
        if deletion.slicesDone < deletion.slices, mayAsk(app, at: context.now) { await Self.publish(deletion, context) }
        var isEmpty = false
        repeat {
            let rows = try await context.store.removeRows(ofDeletedApp: app, limit: Self.rowsPerStep)
            isEmpty = rows < Self.rowsPerStep
        } while !isEmpty && ContinuousClock.now < deadline
        guard isEmpty, deletion.slicesDone >= deletion.slices else { return }
        let letters = try await dropLetters(of: app, context)
        try await context.store.finishDeletion(ofApp: app, at: context.now)
        context.logger.notice(
            "nothing is left of an app that was deleted",
            metadata: ["app": "\(app)", "realms": "\(deletion.realms)", "dead_letters": "\(letters)"])
    }

    private func mayAsk(_ app: String, at now: UInt64) -> Bool {
        askedAt.withLock { asked in
            if let last = asked[app], now < last &+ Self.patience { return false }
            asked[app] = now
            return true
        }
    }

    /// Has every slice erase what it has of the app; what cannot be published now is published with a later beat.
    static func publish(_ deletion: AppDeletionRecord, _ context: CoordinatorContext) async {
        do {
            try await context.link.publishToAllSlices(EraseAppMessage(app: deletion.app))
        } catch {
            context.logger.warning(
                "slices not told of a deleted app, will try again",
                metadata: ["app": "\(deletion.app)", "error": "\(error)"])
        }
    }

    private func dropLetters(of app: String, _ context: CoordinatorContext) async throws -> Int {
        var dropped = 0
        _ = try await context.deadLetters.visit(
            limit: Self.maxLetters, { letter, _ in letter.app == app ? .dropped : .kept },
            done: { _, _, fate in
                if case .dropped = fate { dropped += 1 }
            })
        return dropped
    }
}
