import Logging
import Operations
import RealmState
import Storage
import SyncModel
import Views

/// Begins a realm's history anew from its state, as an app's new generation wants it: the state becomes versions 1 to k under a
/// new salt, made by the server.
///
/// The new history is written beside the old one, then the old one is dropped, both in commits of bounded size; the last commit
/// puts the new history in the old one's place. A large realm's restart is a job (`SliceJob`): nobody needs the realm
/// meanwhile but those who wait for it, since all of its clients must reset. A restart that was interrupted begins again.
struct RealmRestart: SlicePart {
    let work: SliceWork

    /// The realm in its new generation.
    ///
    /// - Throws: `WaitsForJob` if that takes too long for one message; the restart becomes a job.
    func restarted(_ context: RealmContext, generation: UInt64) async throws -> RealmContext {
        if let known = work.memory.restarts[context.name], known.generation == generation { throw WaitsForJob() }
        if let damage = work.memory.restarts.damage(of: context.name, at: clock.uptime()) {
            throw WorkerError(.corrupt, damage)
        }
        try await work.flush()
        let run = RestartRun(
            context, generation: generation, salt: SliceWork.makeSalt(), timestamp: clock.changesetNow)
        guard work.memory.restarts.begin(run) else { throw WaitsForJob() }
        for _ in 0..<max(1, limits.restart.stepsAtOnce) {
            do {
                if let fresh = try await step(run) { return fresh }
            } catch {
                work.memory.restarts.forget(context.name)
                throw error
            }
        }
        logger.info(
            "realm's history restarts in steps",
            metadata: .about(context.name))
        throw WaitsForJob()
    }

    /// Takes one step of the restart that has begun first.
    ///
    /// - Returns: whether there was anything to do.
    func step() async throws -> Bool {
        guard let run = work.memory.restarts.first else { return false }
        do {
            _ = try await step(run)
        } catch {
            guard MessageHandler.isDamage(error) else { throw error }
            work.memory.restarts.fail(run.name, "\(error)", at: clock.uptime())
            logger.error(
                "a damaged realm's history cannot be restarted",
                metadata: .about(run.name, ["error": "\(error)"]))
        }
        return true
    }

    /// - Returns: the realm, if that was the last step.
    private func step(_ run: RestartRun) async throws -> RealmContext? {
        switch run.phase {
        case .clearing(let generation): try await clear(from: generation, run)
        case .writing: try await write(run)
        case .dropping(let after): try await drop(after: after, run)
        case .replacing: return try await replace(run)
        }
        return nil
    }

    /// Deletes what interrupted restarts have left.
    private func clear(from first: UInt64, _ run: RestartRun) async throws {
        for generation in first...run.generation {
            let key = HistoryKey(realm: run.record.id, generation: generation)
            guard let through = try await stretch(of: key, after: 0, through: RestartRun.everything) else { continue }
            var batch = SliceBatch()
            batch.historyTrims = [key: through]
            try await work.commit(batch)
            run.phase = .clearing(generation: generation)
            return
        }
        run.phase = .writing
    }

    private func write(_ run: RestartRun) async throws {
        let goesOn = try await run.history.write(&run.walk, from: store, pageBytes: limits.restart.pageBytes)
        if !goesOn { run.phase = .dropping(after: run.record.historyBase) }
        let page = run.history.take()
        if !page.isEmpty { try await work.commit(page) }
    }

    /// Drops the next stretch of the old history, but for its latest version: the realm is whole after each commit.
    private func drop(after version: ServerVersion, _ run: RestartRun) async throws {
        let key = HistoryKey(realm: run.record.id, generation: run.record.generation)
        let latest = run.record.latest.version
        guard latest > 1, version < latest - 1,
            let through = try await stretch(of: key, after: version, through: latest - 1)
        else {
            run.phase = .replacing
            return
        }
        try await compact(run.name, key, through: through)
        run.phase = through < latest - 1 ? .dropping(after: through) : .replacing
    }

    /// Puts the new history in the old one's place.
    private func replace(_ run: RestartRun) async throws -> RealmContext? {
        work.memory.restarts.forget(run.name)
        guard let context = try await work.storedRealm(run.name), context.record.id == run.record.id,
            context.record.generation == run.record.generation, context.record.latest == run.record.latest
        else { return nil }
        var record = context.record
        record.generation = run.generation
        record.salt = run.salt
        record.historyBase = 0
        record.latest =
            run.history.latest == 0
            ? SaltedServerVersion() : SaltedServerVersion(version: run.history.latest, salt: record.salt)
        record.historyBytes = run.history.bytes
        record.imaged = ((try? ImagedColumns(decoding: record.imaged)) ?? ImagedColumns()).since(record.latest.version)
            .encoded()
        // The objects are the same.
        record.indexed = context.indexed.encoded(at: record.latest.salt)
        var batch = SliceBatch()
        batch.realms = [record]
        batch.reciprocalResets = [record.id]
        batch.historyTrims = [context.historyKey: RestartRun.everything]
        try await work.commit(batch)

        logger.info(
            "realm's history restarted from its state",
            metadata: .about(
                record.name,
                [
                    "generation": "\(run.generation)",
                    "versions": "\(record.latest.version)",
                ]))
        let fresh = RealmContext(
            record: record, schema: run.walk.schema, limits: limits, sessions: context.sessions)
        work.memory.realms.use(fresh)
        return fresh
    }
}

/// How far a realm's restart is. Confined to its slice's actor.
final class RestartRun {
    enum Phase {
        case clearing(generation: UInt64)
        case writing
        case dropping(after: ServerVersion)
        case replacing
    }

    static let everything = ServerVersion(WireIntegerBounds.maximum)
    /// Generations before its own of which an interrupted restart may have left something, at most.
    private static let clearedGenerations: UInt64 = 100

    /// The realm's record as the restart has found it.
    let record: RealmRecord
    let generation: UInt64
    let salt: VersionSalt
    var history: StateHistory
    var walk: StateWalk
    var phase: Phase

    var name: RealmName { record.name }

    init(_ context: RealmContext, generation: UInt64, salt: VersionSalt, timestamp: SyncTimestamp) {
        record = context.record
        self.generation = generation
        self.salt = salt
        let schema = context.state.schema
        history = StateHistory(
            key: HistoryKey(realm: record.id, generation: generation), salt: salt, timestamp: timestamp)
        walk = StateWalk(realm: record, schema: schema, builder: StateChangesets(schema: schema))
        let earliest = generation - min(generation, Self.clearedGenerations)
        phase = .clearing(generation: max(record.generation + 1, earliest))
    }
}

/// The restarts of a slice that are under way, in the order in which they began.
struct OpenRestarts {
    /// Each holds a part of its realm; beyond, realms have to wait until one of these is through.
    private static let most = 16
    private static let maxDamaged = 1_000
    /// Milliseconds after which the restart of a damaged realm is tried again.
    private static let patience: UInt64 = 60_000
    private var runs: [RestartRun] = []
    private var damaged: [RealmName: (reason: String, at: UInt64)] = [:]

    var isEmpty: Bool { runs.isEmpty }
    var first: RestartRun? { runs.first }

    subscript(name: RealmName) -> RestartRun? { runs.first { $0.name == name } }

    /// - Returns: false if there are too many.
    mutating func begin(_ run: RestartRun) -> Bool {
        forget(run.name)
        guard runs.count < Self.most else { return false }
        runs.append(run)
        return true
    }

    mutating func forget(_ name: RealmName) { runs.removeAll { $0.name == name } }
    mutating func forget(app: String) { runs.removeAll { $0.name.app == app } }

    mutating func fail(_ name: RealmName, _ reason: String, at uptime: UInt64) {
        forget(name)
        if damaged.count >= Self.maxDamaged { damaged = [:] }
        damaged[name] = (reason, uptime)
    }

    /// Why the realm could not be restarted a short while ago.
    func damage(of name: RealmName, at uptime: UInt64) -> String? {
        damaged[name].flatMap { uptime < $0.at &+ Self.patience ? $0.reason : nil }
    }
}

/// How much of a realm's restart goes at once.
package struct RestartLimits: Sendable {
    /// Steps that are taken with the message that needs the realm.
    package var stepsAtOnce = 8
    /// State that one commit makes a history of.
    package var pageBytes = 256 << 10
}
