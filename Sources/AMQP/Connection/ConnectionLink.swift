import Logging
import Loops
import Synchronization

/// The state that a connection's thread shares with the objects of the API.
final class ConnectionLink: Sendable {
    let configuration: AMQPConfiguration
    let logger: Logger
    let inbox = Inbox<Command>()
    private let nextID = Atomic<UInt64>(0)
    private let observed = Mutex(Observed())

    private let life = Mutex(Life())

    /// Whether the thread runs, and who waits for its end. Never locked together with another lock.
    private struct Life {
        var running = false
        var retired = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct Observed {
        var state = AMQPConnectionState.connecting
        var failure: AMQPError?
        var observers: [UInt64: AsyncStream<AMQPConnectionState>.Continuation] = [:]
        var frameMax = 131_072
        var statistics = AMQPConnectionStatistics()
    }

    init(configuration: AMQPConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Records that the thread is about to run.
    ///
    /// - Returns: false if the thread runs already, or must not run again.
    func begin() -> Bool {
        let begins = life.withLock { life in
            guard !life.running, !life.retired else { return false }
            life.running = true
            return true
        }
        if begins {
            inbox.open()
            setState(.connecting)
        }
        return begins
    }

    /// Keeps the thread from being started again.
    func retire() {
        let idle = life.withLock { life in
            life.retired = true
            return !life.running
        }
        if idle {
            _ = inbox.close()
            setState(.closed)
        }
    }

    /// Records that the thread has ended.
    func end() {
        setState(.closed)
        let waiters = life.withLock { life in
            life.running = false
            defer { life.waiters = [] }
            return life.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when no thread runs.
    func ended() async {
        await withCheckedContinuation { continuation in
            let idle = life.withLock { life in
                if life.running { life.waiters.append(continuation) }
                return !life.running
            }
            if idle { continuation.resume() }
        }
    }

    /// A number that is used once over the life of the connection.
    func makeID() -> UInt64 { nextID.add(1, ordering: .relaxed).newValue }

    var state: AMQPConnectionState { observed.withLock { $0.state } }

    /// Why the connection was lost, or could not be made; nil while it is there.
    var failure: AMQPError? { observed.withLock { $0.failure } }

    func setFailure(_ error: AMQPError?) { observed.withLock { $0.failure = error } }

    /// The frame limit that was last agreed with the broker.
    var frameMax: Int { observed.withLock { $0.frameMax } }

    func setFrameMax(_ bytes: Int) { observed.withLock { $0.frameMax = bytes } }

    var statistics: AMQPConnectionStatistics { observed.withLock { $0.statistics } }

    func setStatistics(_ statistics: AMQPConnectionStatistics) { observed.withLock { $0.statistics = statistics } }

    func setState(_ state: AMQPConnectionState) {
        observed.withLock { observed in
            guard observed.state != state else { return }
            observed.state = state
            for observer in observed.observers.values { observer.yield(state) }
        }
    }

    /// The states from now on, beginning with the present one. A slow reader misses states, never the newest.
    func updates() -> AsyncStream<AMQPConnectionState> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AMQPConnectionState.self, bufferingPolicy: .bufferingNewest(1))
        let id = makeID()
        continuation.onTermination = { [weak self] _ in
            self?.observed.withLock { _ = $0.observers.removeValue(forKey: id) }
        }
        let over = life.withLock { $0.retired && !$0.running }
        observed.withLock { observed in
            if !over { observed.observers[id] = continuation }
            continuation.yield(observed.state)
        }
        if over { continuation.finish() }
        return stream
    }

    /// Ends the streams of states, once the connection is gone for good.
    func finishUpdates() {
        let observers = observed.withLock { observed in
            defer { observed.observers = [:] }
            return Array(observed.observers.values)
        }
        for observer in observers { observer.finish() }
    }
}
