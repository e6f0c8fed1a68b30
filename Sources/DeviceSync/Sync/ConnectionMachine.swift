internal import SyncModel
internal import SyncProtocol

/// The connection of one user's sessions as a state machine: when to connect, and what an end of the connection means
/// (docs/protocol.md, "Close codes"). It does no I/O; the time and the randomness are given to it.
struct ConnectionMachine: Sendable {
    enum Phase: Sendable, Equatable {
        /// No session wants a connection, or none has asked since the last one ended.
        case idle
        /// The machine rests until the wait with this number is over.
        case waiting(UInt64)
        /// Getting a token or a location first.
        case preparing
        case connecting
        case connected
        /// Only the app, a new token or the like may try again.
        case stopped
    }

    /// What the machine's owner has to do, in this order.
    enum Action: Sendable, Equatable {
        /// Connect; the number tells this connection's events from those of an earlier one.
        case open(UInt64)
        case refreshToken
        case refreshLocation
        /// Call `waited` with the number after so long.
        case wait(UInt64, Duration)
        /// Start sessions anew in place of the present ones, as after a change of server.
        case restartSessions
        /// What was sent is larger than the server takes: the realm with the largest upload stops.
        case stopUpload
        case logOut(String)
        case ping
    }

    /// How the call for a token or a location ended.
    enum Answer: Sendable, Equatable {
        case received
        /// The server cannot be asked now.
        case failed
        /// The server refuses for good.
        case refused(String)
    }

    private(set) var phase = Phase.idle
    /// Counts connections.
    private(set) var number: UInt64 = 0
    private var backoff = Backoff<RetryReason>()
    private var waits: UInt64 = 0
    private var needsLocation = false
    /// Whether the address came from a location answer, or has worked before.
    private var isRouteVerified = false
    /// When the last connection was lost, in nanoseconds.
    private var lostAt: UInt64?

    var isConnected: Bool { phase == .connected }

    // MARK: Connecting

    /// A session wants a connection.
    /// - Parameter hasToken: whether there is an access token that has not expired.
    mutating func wanted(hasToken: Bool) -> [Action] {
        guard phase == .idle else { return [] }
        guard hasToken, !needsLocation else {
            phase = .preparing
            return [hasToken ? .refreshLocation : .refreshToken]
        }
        number += 1
        phase = .connecting
        return [.open(number)]
    }

    /// The address that is connected to came from a location answer.
    mutating func routeIsVerified() { isRouteVerified = true }

    /// The connection is up.
    /// - Parameter limit: how long the last connection may have been lost for a fast reconnect, in nanoseconds.
    /// - Returns: whether it was lost for a moment only.
    mutating func opened(at now: UInt64, fastWithin limit: UInt64) -> Bool {
        phase = .connected
        isRouteVerified = true
        return lostAt.map { now - $0 < limit } ?? false
    }

    /// A call for a new access token has ended.
    mutating func tokenAnswered(_ answer: Answer, using random: inout some RandomNumberGenerator) -> [Action] {
        let isPreparing = phase == .preparing
        switch answer {
        case .refused(let reason):
            if isPreparing { phase = .idle }
            return [.logOut(reason)]
        case .failed:
            backoff.reset()
            return isPreparing ? retry(after: .connectionEnd(.unreachable), using: &random) : []
        case .received:
            backoff.reset()
            if isPreparing { phase = .idle }
            return isConnected ? [.ping] : []
        }
    }

    /// A call for the location has ended.
    mutating func locationAnswered(_ isReceived: Bool, using random: inout some RandomNumberGenerator) -> [Action] {
        if isReceived { needsLocation = false }
        guard phase == .preparing else { return [] }
        guard isReceived else { return retry(after: .connectionEnd(.unreachable), using: &random) }
        phase = .idle
        isRouteVerified = true
        return []
    }

    // MARK: The end of a connection

    /// The connection ended, or could not be made.
    mutating func ended(
        _ end: ConnectionEnd, at now: UInt64, using random: inout some RandomNumberGenerator
    ) -> (reaction: ConnectionReaction, actions: [Action]) {
        let wasConnected = isConnected
        lost(at: now)
        let reaction = end.reaction(routeIsVerified: isRouteVerified)
        if reaction.alsoRefreshesLocation { needsLocation = true }
        switch reaction.action {
        case .wait, .reconnect:
            return (reaction, retry(after: .connectionEnd(wasConnected ? end : .unreachable), using: &random))
        case .refreshUser:
            phase = .preparing
            return (reaction, [.refreshToken])
        case .refreshLocation:
            phase = .preparing
            return (reaction, [.restartSessions, .refreshLocation])
        case .logOutUser: return (reaction, [.logOut("the server refused the user")])
        case .stopUpload: return (reaction, retry(after: .connectionEnd(end), using: &random) + [.stopUpload])
        }
    }

    /// No PONG came in time.
    mutating func fellSilent(at now: UInt64, using random: inout some RandomNumberGenerator) -> [Action] {
        lost(at: now)
        return retry(after: .connectionEnd(.lost), using: &random)
    }

    /// The server sent an error about the whole connection.
    mutating func refused(
        _ code: ErrorCode, _ body: JSONErrorBody, at now: UInt64, using random: inout some RandomNumberGenerator
    ) -> [Action] {
        lost(at: now)
        return wait(
            backoff.next(
                after: .connectionError(code), code: code, tryAgain: body.tryAgain, peerPolicy: body.backoff,
                using: &random))
    }

    /// The server broke the protocol.
    mutating func violated(at now: UInt64) {
        lost(at: now)
        phase = .stopped
    }

    /// The connection is given up for another one, or because nothing can be said on it any more.
    mutating func lost(at now: UInt64) {
        number += 1
        if isConnected { lostAt = now }
        phase = .idle
    }

    /// The connection is closed because no session needs it.
    mutating func closed() {
        number += 1
        phase = .idle
        lostAt = nil
    }

    /// The next connection asks for the location first.
    mutating func locationIsOutdated() { needsLocation = true }

    // MARK: Trying again

    /// The wait with this number is over.
    mutating func waited(_ wait: UInt64) { if phase == .waiting(wait) { phase = .idle } }

    /// The app, a login or a new token does not want to wait.
    mutating func retryNow() {
        switch phase {
        case .waiting, .stopped:
            phase = .idle
            backoff.reset()
        case .idle, .preparing, .connecting, .connected: break
        }
    }

    /// The app asks for a reconnect.
    mutating func forgetFailures() { backoff.reset() }

    private mutating func retry(
        after reason: RetryReason, using random: inout some RandomNumberGenerator
    ) -> [Action] { wait(backoff.next(after: reason, using: &random)) }

    private mutating func wait(_ delay: Backoff<RetryReason>.Delay) -> [Action] {
        guard case .after(let duration) = delay else {
            phase = .stopped
            return []
        }
        waits += 1
        phase = .waiting(waits)
        return [.wait(waits, duration)]
    }
}
