import Synchronization

/// What the client asks of its thread.
enum Command: Sendable {
    case submit(Request)
    /// A connection of its own for several requests.
    case lease(Lease)
    case release(lease: UInt64)
    /// Whoever waits for this does not want it any more.
    case cancel(id: UInt64)
    case connected(ConnectOutcome)
    case stop(CheckedContinuation<Void, Never>?)
}

/// The commands that wait for a client's thread, which is started with the first.
final class Inbox: Sendable {
    private enum Phase { case new, running, closed }

    private struct State {
        var commands: [Command] = []
        /// Set by the thread before it sleeps, so that only the first command of a burst costs a system call.
        var sleeping = false
        var phase = Phase.new
    }

    private let state = Mutex(State())
    let wakeUp = WakeUp()

    /// Adds a command and wakes the thread if it sleeps.
    ///
    /// - Parameter start: starts the thread; false if that cannot be done.
    /// - Returns: false when the client is closed, or has no thread; the command is then dropped.
    func push(_ command: Command, start: () -> Bool = { false }) -> Bool {
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
            state.phase = .closed
            defer { state.commands = [] }
            return state.commands
        }
    }
}
