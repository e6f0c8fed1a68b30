import Synchronization

/// The commands that wait for a connection's thread. A task awaits each command, which bounds their number.
final class Inbox: Sendable {
    private struct State {
        var commands: [Command] = []
        /// Set by the thread before it sleeps, so that only the first command of a burst costs a system call.
        var sleeping = false
        /// True before the thread runs and after it has ended.
        var closed = true
    }

    private let state = Mutex(State())
    let wakeUp = WakeUp()

    /// Adds a command and wakes the thread if it sleeps.
    ///
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

    /// Records that the thread is going to sleep.
    ///
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

    /// Accepts commands from now on: the thread is about to read them.
    func open() { state.withLock { $0.closed = false } }
}
