import Glibc
import Logging
import Loops

/// A connection as its own thread sees it: the socket, the channels, the clock. No other thread touches it; callers reach
/// it through the inbox.
final class ConnectionLoop {
    let link: ConnectionLink
    var logger: Logger
    var output = OutputBuffer()
    var now = Monotonic.now()
    var statistics = AMQPConnectionStatistics()

    /// Grows with every connection made.
    var generation = 0
    /// Why the broker takes no publishes; nil if it does.
    var blocked: String?
    /// The consumers that have got deliveries during this turn.
    var arrivals: [ConsumerState] = []

    var channels: [ChannelID: ChannelState] = [:]
    var numbers: [UInt16: ChannelState] = [:]
    var publishers: [ChannelState] = []

    var transport: (any Transport)?
    var channelMax = 65_535
    private var heartbeat: UInt64 = 0
    private var lastSent = Monotonic.now()
    private var lastReceived = Monotonic.now()
    private var readable = true

    var started: CheckedContinuation<Result<Void, AMQPError>, Never>?
    var attempt = 0
    var rotation: EndpointRotation
    /// When to try to connect next; never while an attempt is under way.
    var retryAt = Monotonic.never
    private var epochs: UInt64 = 0
    private var nextScan = Monotonic.never
    /// When the loop ends at the latest; nil until it is asked to end.
    var stopAt: Monotonic?
    var stopped = false
    var finished = false
    private var reported = AMQPConnectionStatistics()

    private static let scanInterval = Duration.milliseconds(50)

    init(_ link: ConnectionLink, started: CheckedContinuation<Result<Void, AMQPError>, Never>) {
        self.link = link
        self.started = started
        logger = link.logger
        rotation = EndpointRotation(count: link.configuration.endpoints.count)
        if let name = link.configuration.connectionName { logger[metadataKey: "connection"] = "\(name)" }
    }

    func makeEpoch() -> UInt64 {
        epochs += 1
        return epochs
    }

    /// Runs until the connection is closed.
    func run() {
        beginConnecting()
        var commands: [Command] = []
        while !stopped {
            now = .now()
            link.inbox.drain(into: &commands)
            for command in commands { handle(command) }
            commands.removeAll(keepingCapacity: true)
            exchange()
            if retryAt <= now { beginConnecting() }
            deliverArrivals()
            scan()
            report()
            if !stopped { sleep() }
        }
        finish()
    }

    // MARK: The socket

    /// Writes and reads once.
    private func exchange() {
        guard let transport else { return }
        do throws(AMQPError) {
            pump()
            try flush(transport)
            try receive(transport)
            // What was read may have made room for publishes, or asked for an answer.
            pump()
            try flush(transport)
            try keepAlive(transport)
        } catch {
            lose(error)
        }
    }

    private func pump() {
        var index = 0
        while index < publishers.count {
            let channel = publishers[index]
            channel.pump()
            if !channel.outgoing.hasWaiting {
                channel.listed = false
                publishers.swapAt(index, publishers.count - 1)
                publishers.removeLast()
            } else {
                index += 1
            }
        }
    }

    func flush(_ transport: any Transport) throws(AMQPError) {
        guard output.count > 0 else { return }
        let sent = try transport.send(output.pending)
        guard sent > 0 else { return }
        output.consume(sent)
        lastSent = now
    }

    private func receive(_ transport: any Transport) throws(AMQPError) {
        // Read once more when the broker seems silent: perhaps only this thread has not run, and input waits.
        guard readable || transport.noticesSilence || isSilent else { return }
        // A bounded number of reads, so that writing gets its turn.
        for _ in 0..<8 {
            let (bytes, more) = try transport.receive { frame throws(AMQPError) in try self.handle(frame) }
            if bytes > 0 { lastReceived = now }
            readable = more
            if !more || stopped { return }
        }
    }

    /// Whether nothing came for two heartbeats.
    private var isSilent: Bool { heartbeat > 0 && now.since(lastReceived) > 2 * heartbeat }

    private func keepAlive(_ transport: any Transport) throws(AMQPError) {
        guard heartbeat > 0 else { return }
        if !transport.noticesSilence, isSilent {
            throw AMQPError(.connectionLost, "the broker has been silent for two heartbeats")
        }
        if output.count == 0, now.since(lastSent) >= heartbeat / 2 {
            output.appendHeartbeat()
            try flush(transport)
        }
    }

    /// Takes over a connection that was just made.
    func adopt(_ library: LibraryConnection, _ transport: any Transport) {
        self.transport = transport
        output.frameMax = library.frameMax
        channelMax = library.channelMax == 0 ? 65_535 : library.channelMax
        heartbeat = UInt64(library.heartbeatSeconds) * 1_000_000_000
        lastSent = now
        lastReceived = now
        readable = true
        output.clear()
        link.setFrameMax(library.frameMax)
    }

    // MARK: Turns

    /// Hands what arrived to the consumers, each with one wake-up.
    private func deliverArrivals() {
        guard !arrivals.isEmpty else { return }
        for consumer in arrivals { consumer.handOver() }
        arrivals.removeAll(keepingCapacity: true)
    }

    /// Makes sure that deadlines are checked from now on.
    func armDeadlines() {
        if nextScan == .never { nextScan = now.advanced(by: Self.scanInterval) }
    }

    /// Fails what is too late, and opens the channels whose wait is over.
    private func scan() {
        if let stopAt, stopAt <= now { stopped = true }
        guard nextScan <= now else { return }
        var left = false
        for channel in Array(channels.values) {
            if channel.expire(now, blocked: blocked) { left = true }
            if case .waiting(let until) = channel.phase {
                if until <= now, transport != nil { channel.attach() }
                left = true
            }
        }
        nextScan = left ? now.advanced(by: Self.scanInterval) : .never
    }

    private func report() {
        guard reported != statistics else { return }
        reported = statistics
        link.setStatistics(statistics)
    }

    /// Sleeps until the socket, a caller or the clock wants something.
    private func sleep() {
        let sending = output.count > 0
        if readable, transport != nil { return }
        var wake = min(nextScan, retryAt, stopAt ?? .never)
        if let transport, heartbeat > 0 {
            // Bytes that wait for the socket serve as a heartbeat, and the socket wakes the thread when it is ready.
            if !sending { wake = min(wake, lastSent.advanced(by: .nanoseconds(Int64(heartbeat / 2)))) }
            if !transport.noticesSilence {
                wake = min(wake, lastReceived.advanced(by: .nanoseconds(Int64(2 * heartbeat + 1_000_000))))
            }
        }
        var milliseconds: Int32 = -1
        if wake != .never {
            // Rounded up: waking before the time would spin.
            milliseconds = Int32(clamping: (wake.since(now) + 999_999) / 1_000_000)
        }
        // Without a descriptor that wakes the thread, look every few milliseconds.
        if link.inbox.wakeUp.descriptor < 0 { milliseconds = milliseconds < 0 ? 5 : min(milliseconds, 5) }
        guard link.inbox.prepareToSleep() else { return }
        let socket = transport?.descriptor ?? -1
        var descriptors = (
            pollfd(fd: socket, events: Int16(POLLIN | (sending ? POLLOUT : 0)), revents: 0),
            pollfd(fd: link.inbox.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
        )
        let ready = withUnsafeMutableBytes(of: &descriptors) { bytes in
            poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, milliseconds)
        }
        guard ready > 0 else { return }
        if descriptors.0.revents & ~Int16(POLLOUT) != 0 { readable = true }
        if descriptors.1.revents != 0 { link.inbox.wakeUp.reset() }
    }
}
