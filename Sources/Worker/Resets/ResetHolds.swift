import Logging
import Messages
import Storage
import Synchronization

/// The apps whose resets a slice holds, for whoever watches the owner from outside.
final class ResetHolds: Sendable {
    private let held = Mutex<[String: ResetHoldRecord]>([:])

    var current: [ResetHoldRecord] { held.withLock { $0.values.sorted { $0.app < $1.app } } }

    func note(_ record: ResetHoldRecord) {
        held.withLock { $0[record.app] = record.heldSince == nil ? nil : record }
    }
}

/// The brakes of a slice's apps.
struct ResetBrakes {
    /// The number of brakes at which those that hold nothing are forgotten.
    static let maxApps = 1_000
    var brakes: [String: ResetBrake] = [:]
    /// The holds in the store were read.
    var isLoaded = false

    subscript(app: String) -> ResetBrake {
        brakes[app] ?? ResetBrake(ResetHoldRecord(app: app, heldSince: nil, asked: 0, clientFiles: 0))
    }

    mutating func keep(_ brake: ResetBrake) {
        if brakes.count >= Self.maxApps { brakes = brakes.filter { $0.value.record.heldSince != nil } }
        brakes[brake.record.app] = brake
    }
}

extension Resets {
    /// Whether a client file must wait with a reset that no campaign has asked for; notes that it is to reset if not.
    func hold(_ key: ClientFileKey, of app: String) async throws -> ResetHoldRecord? {
        try await loadBrakes()
        let (uptime, now) = (clock.uptime(), clock.now())
        var brake = work.memory.brakes[app]
        if brake.needsCount(limits: limits, at: uptime, now: now) {
            brake.count(try await store.countClientFiles(app: app, state: .live), at: uptime)
        }
        let verdict = brake.verdict(on: key, limits: limits, at: uptime, now: now)
        work.memory.brakes.keep(brake)
        guard case .hold(let hold, let isNew) = verdict else { return nil }
        metrics.heldReset(app: app)
        if isNew {
            logger.error(
                "resets are held: more clients would have to reset than by themselves ever do",
                metadata: ["app": "\(app)", "asked": "\(hold.asked)", "client_files": "\(hold.clientFiles)"])
            note(hold)
        }
        return hold
    }

    /// An operator lets the clients of an app, or of every app whose resets are held, reset for a while.
    func allow(_ message: AllowResetsMessage) async throws {
        try await loadBrakes()
        let until = clock.now() &+ min(message.seconds, AllowResetsMessage.longest) &* 1_000
        let held = work.memory.brakes.brakes.values.filter { $0.record.heldSince != nil }.map(\.record.app)
        for app in message.app.map({ [$0] }) ?? held {
            var brake = work.memory.brakes[app]
            brake.allow(until: until)
            work.memory.brakes.keep(brake)
            note(brake.record)
            logger.notice("resets may go on", metadata: ["app": "\(app)", "seconds": "\(message.seconds)"])
        }
    }

    private func note(_ record: ResetHoldRecord) {
        work.stage { $0.resetHolds[record.app] = record }
        work.environment.held.note(record)
    }

    /// Reads what an owner before has held.
    func loadBrakes() async throws {
        guard !work.memory.brakes.isLoaded else { return }
        for record in try await store.resetHolds() {
            work.memory.brakes.keep(ResetBrake(record))
            work.environment.held.note(record)
        }
        work.memory.brakes.isLoaded = true
    }
}
