import Logging
import Messages
import NIOCore
import Storage
import SyncProtocol

/// One client's socket with all its sessions: parses, checks, lets the machines decide and does what they say.
actor ClientConnection {
    nonisolated let upgrade: SyncUpgrade
    nonisolated let mailbox: Mailbox
    nonisolated let outbox = Outbox()
    let environment: ConnectionEnvironment
    var checker: ServerConnectionChecker
    let parser: ClientMessageParser
    let encoder: MessageEncoder
    var sessions: [SessionIdent: (number: UInt64, machine: GatewaySession)] = [:]
    var numbers: [UInt64: SessionIdent] = [:]
    /// Of each session that has told its owner of its bind, or is about to, by number.
    var subscriptions: [UInt64: Subscription] = [:]
    /// By the clock that nobody can move: a step of the system's time must not cost every client its socket.
    var lastHeard = NIODeadline.now()
    var checkedAt: UInt64
    var budgeted = 0
    var isClosing = false
    var readers: [CheckedContinuation<Void, Never>] = []
    let logger: Logger

    init(upgrade: SyncUpgrade, environment: ConnectionEnvironment) {
        self.upgrade = upgrade
        self.environment = environment
        mailbox = Mailbox(limit: environment.limits.connectionOutboundBytes, metrics: environment.metrics)
        checker = ServerConnectionChecker(
            mode: upgrade.mode, version: upgrade.clientVersion, limits: environment.protocolLimits)
        parser = ClientMessageParser(mode: upgrade.mode, version: upgrade.version, limits: environment.protocolLimits)
        encoder = MessageEncoder(mode: upgrade.mode, version: upgrade.clientVersion, limits: environment.protocolLimits)
        checkedAt = environment.clock.unixMilliseconds()
        var logger = environment.logger
        logger[metadataKey: "connection"] = "\(upgrade.connectionID)"
        logger[metadataKey: "app"] = "\(upgrade.app)"
        self.logger = logger
    }

    /// Serves the socket until it ends, whoever ends it.
    func run(_ socket: SyncSocket) async {
        if let refusal = upgrade.refusal {
            close(refusal.code, refusal.reason)
        } else {
            send(.logMessage(LogMessage(connectionID: upgrade.connectionID)))
        }
        do {
            try await socket.executeThenClose { inbound, outbound in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await self.read(inbound) }
                    group.addTask { await self.write(to: outbound, socket.channel) }
                    group.addTask { await self.readMail() }
                    await group.next()
                    self.stop()
                    group.cancelAll()
                }
            }
        } catch {
            logger.debug("a socket failed", metadata: ["error": "\(error)"])
        }
        ended()
    }

    private nonisolated func read(_ inbound: NIOAsyncChannelInboundStream<SocketInput>) async {
        do {
            for try await input in inbound {
                await receive(input)
                await waitForBudget()
            }
        } catch {
            logger.debug("a socket was lost", metadata: ["error": "\(error)"])
        }
    }

    private nonisolated func write(
        to outbound: NIOAsyncChannelOutboundWriter<SocketOutput>, _ channel: any Channel
    ) async {
        do {
            while case let items = await outbox.next(), !items.isEmpty {
                try await outbound.write(contentsOf: items.lazy.map(\.output))
                for item in items { if let report = item.report { environment.link.report(report) } }
                if outbox.written(items) { mailbox.post(.drained) }
                if items.last?.endsSocket == true {
                    // The handler lets the client read it, then closes.
                    try await channel.closeFuture.get()
                    return
                }
            }
        } catch {
            logger.debug("a socket takes no more", metadata: ["error": "\(error)"])
        }
    }

    private func readMail() async {
        for await letter in mailbox.letters {
            mailbox.taken(letter)
            await open(letter)
        }
    }

    /// The socket is gone: the sessions end, their owners hear of it.
    private func ended() {
        stop()
        for ident in sessions.keys { perform(.connectionLost, on: ident) }
        environment.budget.change(by: -budgeted)
        budgeted = 0
    }

    private func stop() {
        isClosing = true
        outbox.finish()
        mailbox.finish()
        resumeReaders()
    }

    // MARK: Ends

    /// Ends the socket with a close code.
    func close(_ code: UInt16, _ reason: String) {
        guard !isClosing else { return }
        isClosing = true
        outbox.push(Outbox.Item(output: .close(code: code, reason: reason)))
        outbox.finish()
        resumeReaders()
    }

    /// Ends the socket after what was sent, without a close frame.
    func hangUp() {
        guard !isClosing else { return }
        isClosing = true
        outbox.push(Outbox.Item(output: .hangUp))
        outbox.finish()
        resumeReaders()
    }
}

extension ClientConnection: SessionSink {
    nonisolated func deliver(_ event: ClusterEvent, to number: UInt64) { mailbox.post(.event(event, number: number)) }
    nonisolated func settingsChanged(app: String) { mailbox.post(.settings(app: app)) }
}

/// What all connections of a gateway share.
struct ConnectionEnvironment: Sendable {
    var gateway: String
    var limits: GatewayLimits
    var timings: GatewayTimings
    var protocolLimits: ProtocolLimits
    var slices: SliceCount
    var link: ClusterLink
    var apps: AppDirectory
    var accounts: AccountService
    var registry: ConnectionRegistry
    var budget: UploadBudget
    var metrics: GatewayMetrics
    var clock: GatewayClock
    var logger: Logger
}
