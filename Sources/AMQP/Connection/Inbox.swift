import Synchronization

/// The commands that wait for a connection's thread. Each belongs to a task that awaits it, which bounds their number.
final class Inbox: Sendable {
    private struct State {
        var commands: [Command] = []
        /// Set by the thread before it sleeps, so that only the first command of a burst costs a system call.
        var sleeping = false
        /// Until the thread takes commands, and again when it is done.
        var closed = true
    }

    private let state = Mutex(State())
    let wakeUp = WakeUp()

    /// - Returns: false when the connection is closed; the command is then dropped.
    func push(_ command: Command) -> Bool {
        let (accepted, wake) = state.withLock { state in
            guard !state.closed else { return (false, false) }
            state.commands.append(command)
            defer { state.sleeping = false }
            return (true, state.sleeping)
        }
        if wake { wakeUp.signal() }
        return accepted
    }

    /// Takes all commands; `buffer` must be empty and lends its memory in exchange.
    func drain(into buffer: inout [Command]) {
        state.withLock { state in
            state.sleeping = false
            swap(&state.commands, &buffer)
        }
    }

    /// - Returns: false when there are commands, so that the thread must not sleep.
    func prepareToSleep() -> Bool {
        state.withLock { state in
            state.sleeping = state.commands.isEmpty
            return state.sleeping
        }
    }

    /// Refuses further commands and takes those that are left.
    func close() -> [Command] {
        state.withLock { state in
            state.closed = true
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Takes commands, which the thread is about to read.
    func open() { state.withLock { $0.closed = false } }
}
