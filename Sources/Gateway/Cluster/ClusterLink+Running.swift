import AMQP
import Logging
import Messages
import Operations
import ServiceLifecycle

extension ClusterLink: Service {
    func run() async throws {
        var settings = configuration.amqp
        settings.connectionName = "\(configuration.topology.prefix) gateway \(configuration.id), publishing"
        let publishing = AMQPConnection(configuration: settings, logger: logger)
        settings.connectionName = "\(configuration.topology.prefix) gateway \(configuration.id), consuming"
        let consuming = AMQPConnection(configuration: settings, logger: logger)
        let publishChannel: AMQPChannel
        do {
            publishChannel = try await cancelWhenGracefulShutdown {
                try await self.untilBrokerAnswers { try await publishing.start() }
                try await self.untilBrokerAnswers { try await consuming.start() }
                return try await self.untilBrokerAnswers { try await self.declareShared(on: publishing) }
            }
        } catch is CancellationError {
            // Stopped before there was a broker: nothing to finish.
            await publishing.close()
            await consuming.close()
            return
        }
        let consumeChannel = try await consuming.openChannel(prefetch: configuration.limits.prefetch)
        let queue = GatewayQueue(
            name: self.queue, channel: consumeChannel, bindings: bindings, inbox: inbox, spool: spool,
            limits: configuration.limits, logger: logger)
        try await queue.declare()
        bindings.use(consumeChannel, generation: consuming.state.generation ?? 0)
        try await bindings.retain([SigningKeysNotice.topicKey, SettingsNotice.topicPattern])
        let consumer = try await queue.consume()
        let looking = try await consuming.openChannel()
        let failure = await serve(publishChannel, queue, consumer, looking, watching: [publishing, consuming])
        readiness.set(readinessName, ready: false, reason: failure == nil ? "shutting down" : "the queue is lost")
        await publishing.close()
        await consuming.close()
        if let failure { throw failure }
    }

    private enum Ending {
        case shutdown
        case lanesEmpty
        case timeUp
        case queueLost(any Error)
        case other
    }

    /// Runs until the shutdown, and then until what was handed in is published, but not for ever.
    private func serve(
        _ channel: AMQPChannel, _ queue: GatewayQueue, _ consumer: AMQPConsumer, _ looking: AMQPChannel,
        watching connections: [AMQPConnection]
    ) async -> (any Error)? {
        await withTaskGroup(of: Ending.self) { group in
            let lanes = lanes
            group.addTask {
                await withDiscardingTaskGroup { lanesGroup in
                    for lane in lanes { lanesGroup.addTask { await lane.run(on: channel, timeout: .seconds(30)) } }
                }
                return .lanesEmpty
            }
            group.addTask {
                await self.watch(connections, queue)
                return .other
            }
            group.addTask {
                do {
                    try await self.read(queue, consumer)
                    return .other
                } catch {
                    return .queueLost(error)
                }
            }
            group.addTask {
                await self.housekeep()
                return .other
            }
            group.addTask {
                await self.watch(queue, on: looking)
                return .other
            }
            group.addTask {
                try? await gracefulShutdown()
                return .shutdown
            }
            var failure: (any Error)?
            waiting: for await ending in group {
                switch ending {
                case .shutdown:
                    for lane in lanes { lane.close() }
                    group.addTask {
                        try? await Task.sleep(for: .seconds(5))
                        return .timeUp
                    }
                case .lanesEmpty, .timeUp: break waiting
                case .queueLost(let error):
                    failure = error
                    break waiting
                case .other: break
                }
            }
            for lane in lanes { lane.close() }
            group.cancelAll()
            return failure
        }
    }

    /// Opens the channel to publish by, and declares what processes share.
    private func declareShared(on publishing: AMQPConnection) async throws -> AMQPChannel {
        let channel = try await publishing.openChannel(confirms: true)
        try await configuration.gate?.enter(publishing, channel)
        try await configuration.topology.declareShared(on: channel, slices: configuration.slices)
        return channel
    }

    /// Does something again and again while the broker is away, or too busy to do it.
    private func untilBrokerAnswers<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        var wait = 1
        while true {
            do {
                return try await body()
            } catch {
                guard let error = error as? AMQPError, error.isRetriable else { throw error }
                readiness.set(readinessName, ready: false, reason: error.message)
                logger.warning("the broker is not to be had, trying again", metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: .seconds(wait))
            wait = min(wait * 2, 15)
        }
    }

    /// - Parameter connections: the last one is the queue's.
    private func watch(_ connections: [AMQPConnection], _ queue: GatewayQueue) async {
        let realms = configuration.topology.realms
        let bindings = bindings
        let watch = LinkWatch(
            states: { connections.map(\.state) },
            recover: {
                // Answered when the AMQP client has declared the queue again. With another connection its bindings are gone.
                try await queue.channel.declareExchange(realms, type: .topic, passive: true, record: false)
                if let last = connections.last { try await bindings.renew(on: last.state.generation ?? 0) }
            },
            isDown: { self.isDown(connections.lazy.compactMap(\.obstacle).first) }, isUp: isUpAgain, logger: logger)
        await watch.run(connections.map(\.stateUpdates))
    }

    /// Reads the queue until the link is closed. When the broker ends the consumer for good, because somebody deleted the
    /// queue, the queue is made again, and the sessions ask for what they missed.
    private func read(_ queue: GatewayQueue, _ first: AMQPConsumer) async throws {
        var consumer = first
        while true {
            do { return try await queue.read(consumer) } catch { try Task.checkCancellation() }
            readiness.set(readinessName, ready: false, reason: "the queue is lost")
            consumer = try await queue.reopen()
            readiness.set(readinessName, ready: isUp, reason: isUp ? "" : "the broker is away")
            logger.info("the gateway's queue is declared again", metadata: ["queue": "\(queue.name)"])
            sessions.deliverToAll(.linkUp)
        }
    }

    /// Says how many messages wait in the gateway's queue: those that it has not been given yet.
    ///
    /// - Parameter channel: of the connection whose queue it is, and not the queue's own, which a queue that was deleted would close.
    private func watch(_ queue: GatewayQueue, on channel: AMQPChannel) async {
        let declaration = AMQPQueueDeclaration(name: queue.name, passive: true)
        while !Task.isCancelled {
            metrics.queueReady(try? await channel.declareQueue(declaration, record: false).messageCount)
            try? await Task.sleep(for: Self.queueInterval)
        }
    }

    private func housekeep() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500))
            let now = clock.unixMilliseconds()
            metrics.holds(spool.statistics)
            for request in requests.takeExpired(at: now) {
                metrics.requestTimedOut()
                sessions.deliver(
                    .requestFailed(GatewayError(.timeout, "no owner answered in time")), to: request.session)
            }
            recent.sweep(at: now)
            bindings.sweep(at: now)
            metrics.bindings(bindings.counts)
        }
    }
}
