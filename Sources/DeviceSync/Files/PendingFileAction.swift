internal import Dispatch
internal import Foundation
internal import Logging
import SyncModel

/// A file action that is to be carried out now: the backup and deletion that a client reset or an error asked for.
struct PendingFileAction: Sendable {
    /// How long an app that asks for a file action waits at most for the realm's file to be closed.
    static let patience = Duration.seconds(10)

    let app: AppCore
    let id: String
    private let files: RealmFileSet

    init(app: AppCore, id: String, path: String) {
        self.app = app
        self.id = id
        files = RealmFileSet(main: URL(fileURLWithPath: path))
    }

    /// - Returns: nil if the app is gone.
    init?(_ token: SyncError.ActionToken) {
        guard let app = token.core.core else { return nil }
        self.init(app: app, id: token.actionID, path: token.originalPath)
    }

    /// Carries the action out unless the realm is open. Once it is done it is gone, so a second time does nothing.
    /// - Returns: false if this process has the realm open.
    func attempt(_ outcome: OutcomeReport.Result) throws -> Bool {
        // Asked outside as well: a realm that was opened after the action was done is nothing to wait for.
        guard try app.store.fileAction(id: id) != nil else { return true }
        return try RealmRegistry.whileClosed(files) {
            guard let action = try app.store.fileAction(id: id) else { return }
            // Read while the action stands: a report that was sent is kept for no longer.
            let report = action.attempt.flatMap { try? app.store.outcome(attempt: $0) }?.updated(to: outcome)
            let wasDone = try FileActionRunner.run(action)
            try app.store.removeFileAction(id: id)
            guard wasDone else {
                return app.logger.info(
                    "a file action is dropped: another realm is there now", metadata: ["realm": "\(files.main.path)"])
            }
            // The metadata file, to which the report goes, was written just now.
            if let report { _ = app.outcomes.report(report, user: action.userID) }
        } != nil
    }

    /// Carries the action out as soon as the file is closed; blocks the thread until then.
    /// - Throws: `Realm.Error` that says what holds the file; what `attempt` throws.
    func perform(within limit: Duration) throws {
        let deadline = DispatchTime.now() + limit.seconds
        while try !attempt(.manualHandled) {
            guard !QueueExecutor.isCurrent else { throw stillOpen("the client reset block that asks for it") }
            guard blockUntilClosed(deadline) || isOver else { throw stillOpen() }
        }
    }

    /// Carries the action out as soon as the file is closed; suspends the task until then.
    func perform(within limit: Duration) async throws {
        let deadline = DispatchTime.now() + limit.seconds
        while try await !FileQueue.run({ try attempt(.manualHandled) }) {
            let isClosed = await files.suspendUntilClosed(deadline)
            try Task.checkCancellation()
            guard isClosed || isOver else { throw stillOpen() }
        }
    }

    private var isOver: Bool { ((try? app.store.fileAction(id: id)) ?? nil) == nil }

    private func blockUntilClosed(_ deadline: DispatchTime) -> Bool {
        let closed = DispatchSemaphore(value: 0)
        let watch = OpenFiles.watch(files.databases) { closed.signal() }
        defer { OpenFiles.cancelWatch(watch) }
        return closed.wait(timeout: deadline) == .success
    }

    // MARK: What went wrong

    /// Runs `body`; an error goes to the log.
    func logging(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            app.logger.error(
                "a file action could not be carried out and stays for the next launch",
                metadata: ["realm": "\(files.main.path)", "error": "\(error)"])
        }
    }

    func stillOpen(_ holder: String? = nil) -> Realm.Error {
        Realm.Error(
            .alreadyOpen, "the realm's file is still open, held by \(holder ?? self.holder)", fileURL: files.main)
    }

    /// What has the file open, as far as this app knows.
    private var holder: String {
        let path = OpenFiles.canonical(files.main).path
        guard let session = app.sync.allSessions.first(where: { $0.path == path }) else {
            return files.isOpen ? "what is just closing it, or by another app of this process" : "nothing any more"
        }
        switch session.instanceCount {
        case 0 where session.state == .active: return "its session, which has changes to upload"
        case 0: return "its session, which is ending"
        case 1: return "one realm handle of the app: a Realm, an object, a collection or a notification token"
        case let count: return "\(count) realm handles of the app: Realms, objects, collections or notification tokens"
        }
    }
}
