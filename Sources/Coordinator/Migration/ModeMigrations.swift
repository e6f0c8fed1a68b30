import Logging
import Storage
import Synchronization

/// Carries moves of apps between the sync modes on, one after the other, beside the coordinator's beats. Whoever is the active
/// coordinator goes on from what the control store says; each step may be done twice.
final class ModeMigrations: Sendable {
    private struct Run {
        var task: Task<Void, Never>
        var isOver = false
    }

    private let run = Mutex<Run?>(nil)

    /// What the active coordinator does with each beat.
    func keepUp(_ context: CoordinatorContext) async throws {
        guard run.withLock({ $0?.isOver ?? true }) else { return }
        let apps = try await context.store.apps()
        for app in apps { CoordinatorMetrics.see(app: app.id) }
        let moving = apps.filter(\.isMoving)
        CoordinatorMetrics.migrations(moving.count)
        guard let app = moving.first else { return }
        // Unstructured: it takes as long as the app is large, and the beats must go on. It ends with the move, with the
        // coordinator's activity, and with the coordinator.
        run.withLock { run in
            // Made under the lock, which the task waits for to say that it is over.
            let task = Task {
                do {
                    try await ModeMigrationRun(context: context, app: app.id).goOn()
                } catch is CancellationError {
                } catch {
                    context.logger.warning(
                        "an app's move to the other sync mode is interrupted, will go on",
                        metadata: ["app": "\(app.id)", "error": "\(error)"])
                }
                self.run.withLock { $0?.isOver = true }
            }
            run = Run(task: task)
        }
    }

    func stop() { run.withLock { $0?.task.cancel() } }
}
