internal import Synchronization

/// The commands that wait for a loop's thread. Tasks await what they ask for, which bounds the number of commands.
package final class Inbox<Command: Sendable>: Sendable {
    /// Commands are accepted while the thread runs; a new inbox's thread may start with the first.
    private enum Phase { case new, running, closed }

    private struct State {
        var commands: [Command] = []
        /// Set by the thread before it sleeps, so that only the first command of a burst costs a system call.
        var sleeping = false
        var phase = Phase.new
    }

    private let state = Mutex(State())
    package let wakeUp = WakeUp()

    package init() {}

    /// Adds a command and wakes the thread if it sleeps.
    ///
    /// - Parameter start: starts the thread; false if that cannot be done.
    /// - Returns: false when no thread is there to read it; the command is then dropped.
    package func push(_ command: Command, start: () -> Bool = { false }) -> Bool {
        let (accepted, wake) = state.withLock { state in
            if state.phase == .new {
                guard start() else { return (false, false) }
                state.phase = .running
            }
            guard state.phase == .running else { return (false, false) }
            state.commands.append(command)
            defer { state.sleeping = false }
            return (true, state.sleeping)
        }
        if wake { wakeUp.signal() }
        return accepted
    }

    /// Takes all commands; `buffer` must be empty and lends its memory in exchange.
    package func drain(into buffer: inout [Command]) {
        state.withLock { state in
            state.sleeping = false
            swap(&state.commands, &buffer)
        }
    }

    /// Records that the thread is going to sleep.
    ///
    /// - Returns: false when there are commands, so that the thread must not sleep.
    package func prepareToSleep() -> Bool {
        state.withLock { state in
            state.sleeping = state.commands.isEmpty
            return state.sleeping
        }
    }

    /// Refuses further commands and takes those that are left.
    package func close() -> [Command] {
        state.withLock { state in
            state.phase = .closed
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Accepts commands from now on: the thread is about to read them.
    package func open() { state.withLock { $0.phase = .running } }
}
