import CPostgreSQL
import DequeModule
import Glibc
import Logging
import Loops

/// A client's connections and what waits for them, on the client's thread. No other thread touches it; callers reach it through
/// the inbox.
final class PoolLoop {
    let link: PoolLink
    private var logger: Logger
    private var now = Monotonic.now()

    private var connections: [ServerConnection] = []
    /// Requests that wait for a connection.
    private var waiting: Deque<Request> = []
    /// Requests of those who have a connection for themselves, until it is their turn.
    private var leased: [Request] = []
    private var wishes: Deque<Lease> = []

    private var connecting = 0
    /// Attempts to connect that have failed since the last one that did not.
    private var failures = 0
    private var retryAt = Monotonic(nanoseconds: 0)
    private var lastFailure: PostgresError?
    /// The moment from which on no connection could be had although one was wanted; nil while there is one.
    private var missingSince: Monotonic?
    private var nextScan = Monotonic.never
    private var stopping: [CheckedContinuation<Void, Never>] = []
    private var stopped = false

    private static let scanInterval = Duration.milliseconds(50)
    private static let retryDelays: [Duration] = [
        .zero, .milliseconds(50), .milliseconds(200), .milliseconds(500), .seconds(1),
    ]

    private var configuration: PostgresConfiguration { link.configuration }

    init(_ link: PoolLink) {
        self.link = link
        logger = link.logger
        logger[metadataKey: "database"] = "\(link.configuration.place)"
    }

    /// Runs until the client is closed.
    func run() {
        var commands: [Command] = []
        while !stopped {
            now = .now()
            link.inbox.drain(into: &commands)
            for command in commands { handle(command) }
            commands.removeAll(keepingCapacity: true)
            dispatch()
            scan()
            if !stopped { sleep() }
        }
        finish()
    }

    private func handle(_ command: Command) {
        switch command {
        case .submit(let request):
            if request.lease != nil {
                leased.append(request)
            } else if waiting.count < configuration.maxWaiting {
                waiting.append(request)
            } else {
                request.fail(
                    PostgresError(.busy, "\(waiting.count) pipelines wait for a connection to \(configuration.place)"))
            }
        case .lease(let lease):
            if wishes.count < configuration.maxWaiting {
                wishes.append(lease)
            } else {
                lease.fail(
                    PostgresError(.busy, "\(wishes.count) transactions wait for a connection to \(configuration.place)")
                )
            }
        case .release(let lease): release(lease)
        case .cancel(let id): cancel(id)
        case .connected(let outcome): adopt(outcome)
        case .stop(let continuation):
            if let continuation { stopping.append(continuation) }
            stopped = true
        }
    }

    private func cancel(_ id: UInt64) {
        let error = PostgresError(.cancelled, "cancelled before anything was sent")
        if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index).fail(error)
        } else if let index = wishes.firstIndex(where: { $0.id == id }) {
            wishes.remove(at: index).fail(error)
        }
    }

    // MARK: Work

    /// Gives connections to what waits for them, and makes more while there are too few.
    private func dispatch() {
        if !leased.isEmpty {
            let requests = leased
            leased = []
            for request in requests { sendLeased(request) }
        }
        while let wish = wishes.first, leases < configuration.sessions, let connection = idle {
            wishes.removeFirst()
            connection.lease = wish.id
            wish.continuation.resume(returning: .success(()))
        }
        while !waiting.isEmpty, let connection = idle {
            if connection.forgetsPlans(at: now) {
                end(Request.deallocate, on: connection)
            } else {
                start(waiting.removeFirst(), on: connection)
            }
        }
        let wanted = min(
            waiting.count + wishes.count, configuration.connections + configuration.sessions - connections.count)
        guard connecting < wanted, retryAt <= now else { return }
        // Connections are made one by one while none can be had.
        for _ in 0..<(failures == 0 ? wanted - connecting : connecting == 0 ? 1 : 0) { connect() }
    }

    private var idle: ServerConnection? { connections.first(where: \.isIdle) }
    private var leases: Int { connections.count { $0.lease != nil } }

    private func sendLeased(_ request: Request) {
        guard let connection = connections.first(where: { $0.lease == request.lease }) else {
            return request.fail(PostgresError(.lost, "the connection of the transaction was lost"))
        }
        // A caller that has a connection for itself asks for one thing after the other.
        guard connection.request == nil else {
            return request.fail(PostgresError(.other, "a pipeline of the same transaction is under way"))
        }
        start(request, on: connection)
    }

    private func start(_ request: Request, on connection: ServerConnection) {
        do throws(PostgresError) {
            if request.end != Request.deallocate {
                link.count { statistics in
                    statistics.roundTrips += 1
                    statistics.statements += request.statements.count
                }
            }
            // The server itself ends a statement that takes too long, a little earlier.
            try connection.send(
                request, deadline: now.advanced(by: request.limit ?? configuration.timeout + .seconds(1)))
        } catch {
            lose(connection, error)
        }
        nextScan = min(nextScan, now.advanced(by: Self.scanInterval))
    }

    private func receive(_ connection: ServerConnection) {
        guard let request = connection.request else {
            do throws(PostgresError) { _ = try connection.receive() } catch { lose(connection, error) }
            return
        }
        do throws(PostgresError) {
            guard let answer = try connection.receive() else { return }
            if case .failure(let error) = answer, error.endsConnection { throw error }
            request.continuation?.resume(returning: answer)
            if connection.lease == nil { clean(connection) }
        } catch {
            lose(connection, error, request)
        }
    }

    private func release(_ lease: UInt64) {
        if let index = wishes.firstIndex(where: { $0.id == lease }) {
            wishes.remove(at: index).fail(PostgresError(.cancelled, "cancelled before anything was sent"))
        }
        guard let connection = connections.first(where: { $0.lease == lease }) else { return }
        connection.lease = nil
        if connection.request == nil { clean(connection) }
    }

    /// Ends a transaction that was left open.
    private func clean(_ connection: ServerConnection) {
        if connection.isInTransaction { end(Request.rollback, on: connection) }
    }

    /// Runs a statement of the client's own, for which nobody waits.
    private func end(_ sql: String, on connection: ServerConnection) {
        let request = Request(
            id: 0, statements: [], begin: nil, end: sql, lease: nil, isRepeatable: false, patience: .never,
            hurry: .never, limit: nil, continuation: nil)
        start(request, on: connection)
    }

    // MARK: Connections

    private func connect() {
        connecting += 1
        noteLack()
        let (link, configuration) = (link, configuration)
        let started = LoopThread.start("postgres") {
            let outcome = ConnectOutcome(configuration)
            if !link.inbox.push(.connected(outcome)) { outcome.drop() }
        }
        guard !started else { return }
        connecting -= 1
        noteFailure(PostgresError(.unreachable, "no thread can be made to connect from"))
    }

    private func adopt(_ outcome: ConnectOutcome) {
        connecting -= 1
        switch outcome.result {
        case .success(let connection):
            if failures > 0 { logger.info("the database takes connections again") }
            failures = 0
            lastFailure = nil
            missingSince = nil
            connections.append(ServerConnection(connection, at: now))
            link.count { $0.connects += 1 }
        case .failure(let error): noteFailure(error)
        }
    }

    private func noteFailure(_ error: PostgresError) {
        failures += 1
        lastFailure = error
        noteLack()
        if failures == 1 { logger.warning("no connection to the database", metadata: ["error": "\(error)"]) }
        let delay = Self.retryDelays[min(failures, Self.retryDelays.count - 1)]
        retryAt = now.advanced(by: delay * Double.random(in: 0.5...1))
        // Waiting would not help against these.
        guard !error.isRetriable, connections.isEmpty else { return }
        for request in waiting { request.fail(error) }
        waiting.removeAll()
        for wish in wishes { wish.fail(error) }
        wishes.removeAll()
    }

    /// Gives up a connection, and what is under way on it unless it can be sent again.
    private func lose(_ connection: ServerConnection, _ error: PostgresError, _ request: Request? = nil) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        link.count { $0.losses += 1 }
        // The other connections lead to the same server.
        if error.kind == .readOnly { connections.removeAll { $0.isIdle } }
        guard let request = request ?? connection.request else { return }
        // A statement that was refused has changed nothing, and is prepared anew on the next connection.
        let isHarmless = request.isRepeatable && error.kind == .lost || request.lease == nil && error.isAboutPreparing
        if isHarmless, request.patience > now {
            waiting.prepend(request)
        } else {
            var error = error
            error.mayHaveHappened = request.commits && (error.kind == .lost || error.kind == .timeout)
            request.fail(error)
        }
    }

    private func noteLack() {
        if connections.isEmpty, missingSince == nil { missingSince = now }
    }

    /// Whether no connection could be had for so long that another try is not worth waiting for.
    private var isKnownToBeAway: Bool {
        guard connections.isEmpty, let missingSince else { return false }
        return missingSince.advanced(by: configuration.outage) <= now
    }

    // MARK: Time

    /// Fails what is too late.
    private func scan() {
        guard nextScan <= now else { return }
        for connection in connections where connection.deadline <= now {
            lose(
                connection,
                PostgresError(
                    .timeout,
                    "no answer from \(configuration.place) within \(connection.request?.limit ?? configuration.timeout)"
                ))
        }
        let isAway = isKnownToBeAway
        func expired(_ what: String) -> PostgresError {
            lastFailure
                ?? (isAway ? PostgresError(.unreachable, "\(configuration.place) does not answer") : nil)
                ?? PostgresError(
                    .busy,
                    "no connection to \(configuration.place) was free for \(what) within \(configuration.patience)")
        }
        func isLate(_ request: Request) -> Bool { request.patience <= now || isAway && request.hurry <= now }
        func isLate(_ wish: Lease) -> Bool { wish.patience <= now || isAway && wish.hurry <= now }
        if waiting.contains(where: isLate) {
            for request in waiting where isLate(request) { request.fail(expired("a pipeline")) }
            waiting.removeAll(where: isLate)
        }
        if wishes.contains(where: isLate) {
            for wish in wishes where isLate(wish) { wish.fail(expired("a transaction")) }
            wishes.removeAll(where: isLate)
        }
        let isBusy = !waiting.isEmpty || !wishes.isEmpty || connections.contains { $0.request != nil }
        nextScan = isBusy ? now.advanced(by: Self.scanInterval) : .never
    }

    /// Sleeps until a socket, a caller or the clock wants something.
    private func sleep() {
        if nextScan == .never, !waiting.isEmpty || !wishes.isEmpty { nextScan = now.advanced(by: Self.scanInterval) }
        var wake = nextScan
        if connecting == 0, !waiting.isEmpty || !wishes.isEmpty, retryAt > now { wake = min(wake, retryAt) }
        var milliseconds: Int32 = -1
        // Rounded up: waking before the time would spin.
        if wake != .never { milliseconds = Int32(clamping: (wake.since(now) + 999_999) / 1_000_000) }
        // Without a descriptor that wakes the thread, look every few milliseconds.
        if link.inbox.wakeUp.descriptor < 0 { milliseconds = milliseconds < 0 ? 5 : min(milliseconds, 5) }
        guard link.inbox.prepareToSleep() else { return }
        let polled = connections
        var descriptors = [pollfd(fd: link.inbox.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
        for connection in polled {
            let events = POLLIN | (connection.wantsWrite ? POLLOUT : 0)
            descriptors.append(pollfd(fd: connection.descriptor, events: Int16(events), revents: 0))
        }
        let ready = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        guard ready > 0 else { return }
        now = .now()
        if descriptors[0].revents != 0 { link.inbox.wakeUp.reset() }
        for (connection, descriptor) in zip(polled, descriptors.dropFirst()) where descriptor.revents != 0 {
            receive(connection)
        }
    }

    private func finish() {
        let error = PostgresError(.closed, "the client was closed")
        for command in link.inbox.close() {
            switch command {
            case .submit(let request): request.fail(error)
            case .lease(let lease): lease.fail(error)
            case .connected(let outcome): outcome.drop()
            case .stop(let continuation?): stopping.append(continuation)
            case .stop, .release, .cancel: break
            }
        }
        for request in waiting + leased { request.fail(error) }
        for wish in wishes { wish.fail(error) }
        for connection in connections {
            guard let request = connection.request else { continue }
            var error = error
            error.mayHaveHappened = request.commits
            request.fail(error)
        }
        connections.removeAll()
        for continuation in stopping { continuation.resume() }
    }
}

extension Request {
    func fail(_ error: PostgresError) { continuation?.resume(returning: .failure(error)) }
}

extension Lease {
    func fail(_ error: PostgresError) { continuation.resume(returning: .failure(error)) }
}
