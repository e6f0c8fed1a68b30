import DeviceSync
import Synchronization

/// What the SDK told this client about its reset, from the threads that it tells it on.
final class ResetLog: Sendable {
    struct State {
        var error: String?
        var backupPath: String?
        /// The token until the manual reset was handled.
        var token: SyncError.ActionToken?
        var isOver = false
    }

    private let state = Mutex(State())

    var current: State { state.withLock { $0 } }

    func update(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
}
