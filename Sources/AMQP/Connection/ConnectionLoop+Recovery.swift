import Logging
import Loops

/// The result of an attempt to connect.
///
/// Unchecked: the connecting thread makes it, hands it over and ends.
final class ConnectOutcome: @unchecked Sendable {
    /// A connection that was made, and the address that it leads to.
    struct Made {
        var library: LibraryConnection
        var transport: any Transport
        var address: Int
    }

    let result: Result<Made, AMQPError>

    init(_ result: Result<Made, AMQPError>) { self.result = result }
}

// Connecting, losing the connection, reconnecting, ending.
extension ConnectionLoop {
    /// Connects on a thread of its own: name resolution and handshake block, and deadlines must be kept meanwhile.
    func beginConnecting() {
        retryAt = .never
        let link = link
        let order = rotation.order
        let started = LoopThread.start("amqp") {
            let outcome = ConnectOutcome(Self.connect(link.configuration, order))
            // If the connection was closed meanwhile, the outcome is dropped, which closes the socket.
            _ = link.inbox.push(.connected(outcome))
        }
        if !started {
            connected(ConnectOutcome(.failure(AMQPError(.connectFailed, "no thread could be started"))))
        }
    }

    /// Tries every endpoint once, in the order of `addresses`.
    private static func connect(
        _ configuration: AMQPConfiguration, _ addresses: [Int]
    ) -> Result<ConnectOutcome.Made, AMQPError> {
        var failure = AMQPError(.invalidArgument, "expected at least one address of the broker")
        for address in addresses {
            do throws(AMQPError) {
                let library = try LibraryConnection(configuration)
                let transport = try library.connect(to: configuration.endpoints[address])
                return .success(ConnectOutcome.Made(library: library, transport: transport, address: address))
            } catch {
                failure = error
            }
        }
        return .failure(failure)
    }

    func connected(_ outcome: ConnectOutcome) {
        guard stopAt == nil, !stopped else { return }
        switch outcome.result {
        case .success(let made):
            adopt(made.library, made.transport)
            rotation.tried(reaching: made.address)
            generation += 1
            if generation > 1 { statistics.reconnects += 1 }
            attempt = 0
            logger.info(
                "connected",
                metadata: [
                    "broker": "\(link.configuration)", "node": "\(link.configuration.endpoints[made.address])",
                    "generation": "\(generation)",
                ])
            for channel in channels.values { channel.attach() }
            link.setFailure(nil)
            link.setState(.connected(generation: generation))
            started?.resume(returning: .success(()))
            started = nil
        case .failure(let error):
            link.setFailure(error)
            rotation.tried(reaching: nil)
            if let started {
                self.started = nil
                stopped = true
                // The caller may start again as soon as it hears of the failure: finish everything else before.
                finish(started, error)
            } else {
                logger.warning("cannot connect", metadata: ["attempt": "\(attempt)", "reason": "\(error)"])
                scheduleRetry()
            }
        }
    }

    private func scheduleRetry() {
        attempt += 1
        link.setState(.reconnecting(attempt: attempt))
        retryAt = now.advanced(by: link.configuration.reconnect.delay(beforeAttempt: attempt))
    }

    /// Takes the loss of the connection: what was under way fails, what was not begun waits for the next connection.
    func lose(_ error: AMQPError, culprit: UInt32 = 0, reason: AMQPError? = nil) {
        guard transport != nil else { return }
        transport = nil
        link.setFailure(error)
        blocked = nil
        output.clear()
        arrivals.removeAll()
        let lost =
            error.code == .connectionLost
            ? error : AMQPError(.connectionLost, error.description, replyCode: error.replyCode)
        for channel in Array(channels.values) { channel.detach(lost, culprit: culprit, reason: reason) }
        guard stopAt == nil else {
            stopped = true
            return
        }
        logger.warning("connection lost", metadata: ["reason": "\(error)"])
        attempt = 0
        scheduleRetry()
    }

    /// Fails what is left, and ends the waits for the connection's start and end.
    func finish(
        _ started: CheckedContinuation<Result<Void, AMQPError>, Never>? = nil, _ error: AMQPError? = nil
    ) {
        guard !finished else { return }
        finished = true
        transport = nil
        for channel in Array(channels.values) { channel.end(closing: false) }
        // Without a channel every command is refused.
        for command in link.inbox.close() {
            if case .openChannel(let opening) = command {
                opening.continuation.resume(returning: .failure(.connectionClosed))
            } else {
                handle(command)
            }
        }
        link.setStatistics(statistics)
        self.started?.resume(returning: .failure(.connectionClosed))
        self.started = nil
        link.end()
        if let started, let error { started.resume(returning: .failure(error)) }
    }
}
