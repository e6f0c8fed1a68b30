import Logging
import ServiceLifecycle
import Storage
import SyncModel
import Synchronization

/// Follows the settings, rules and users of the apps with sessions here, and has the sessions that a change concerns judged again.
///
/// A notice makes it look at once. It looks at every app now and then all the same, so a notice that was lost costs some seconds. What
/// cannot be read, or could not be judged, is tried again with the next look.
final class AppWatch: Service {
    /// Connections that judge their sessions at the same time.
    static let width = 8
    /// Sessions that are taken up at once.
    static let step = 256

    let sessions = SessionDirectory()
    private let apps: AppDirectory
    private let store: any AccountStore
    private let interval: Duration
    private let logger: Logger
    /// Apps to look at; true if their settings were said to have changed.
    private let wanted = Mutex<[String: Bool]>([:])
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    /// What the sessions of an app were last told of its settings.
    private let told = Mutex<[String: Told]>([:])

    private struct Told: Equatable {
        var syncState: AppRecord.SyncState
        var clientRecovery: Bool
        var clientSchemas: SchemaVersionRange?
        var isMoving: Bool
        var syncMode: SyncMode
    }

    init(apps: AppDirectory, store: any AccountStore, interval: Duration, logger: Logger) {
        self.apps = apps
        self.store = store
        self.interval = interval
        self.logger = logger
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Looks at an app soon.
    ///
    /// - Parameter settings: whether its settings have changed, or something else.
    func look(at app: String, settings: Bool = false) {
        wanted.withLock { $0[app] = settings || $0[app] == true }
        wake.yield()
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { [self] in
                    while !Task.isCancelled {
                        try? await Task.sleep(for: interval)
                        for app in sessions.apps { look(at: app) }
                    }
                }
                group.addTask { [self] in
                    for await _ in wakes {
                        let apps = wanted.withLock { wanted in
                            defer { wanted = [:] }
                            return wanted
                        }
                        for (app, settings) in apps { await follow(app, settings: settings) }
                    }
                }
            }
        }
    }

    private func follow(_ id: String, settings: Bool) async {
        guard let covered = sessions.covered(of: id) else { return told.withLock { $0[id] = nil } }
        do {
            guard let app = try await apps.latest(id) else { return sessions.settingsChanged(app: id) }
            tell(app, settings: settings)
            let now = JudgedBy(rules: app.rulesVersion, users: app.usersVersion)
            if now != covered {
                let changed =
                    now.users == covered.users
                    ? [] : try await store.userChanges(app: id, after: covered.users)
                sessions.cover(id, by: now, changed: changed)
            }
            try await judgeDue(of: app)
        } catch {
            logger.warning(
                "an app's rules cannot be followed for now; its sessions go on as they are",
                metadata: ["app": "\(id)", "error": "\(error)"])
            if settings { wanted.withLock { $0[id] = true } }
        }
    }

    private func tell(_ app: AppRecord, settings: Bool) {
        let now = Told(
            syncState: app.syncState, clientRecovery: app.clientRecovery, clientSchemas: app.clientSchemas,
            isMoving: app.isMoving, syncMode: app.syncMode)
        let before = told.withLock { $0.updateValue(now, forKey: app.id) }
        if settings || (before ?? now) != now { sessions.settingsChanged(app: app.id) }
    }

    private func judgeDue(of app: AppRecord) async throws {
        while case let due = sessions.takeDue(of: app.id, atMost: Self.step), !due.isEmpty {
            let failure = await withTaskGroup(of: (any Error)?.self) { group in
                for lane in 0..<min(Self.width, due.count) {
                    group.addTask { [self] in
                        var failure: (any Error)?
                        for index in stride(from: lane, to: due.count, by: Self.width) {
                            do {
                                try await due[index].sink.judgeAgain(
                                    due[index].numbers, by: app, checksLogin: due[index].checksLogin)
                            } catch {
                                sessions.putBack(due[index], of: app.id)
                                failure = failure ?? error
                            }
                        }
                        return failure
                    }
                }
                return await group.reduce(nil) { $0 ?? $1 }
            }
            if let failure { throw failure }
        }
    }
}
