import Changesets
import Logging
import NIOCore
import Storage
import SyncModel
import SyncProtocol

/// One client's socket with all its sessions: parses, checks, lets the machines decide and does what they say.
actor ClientConnection {
    nonisolated let upgrade: SyncUpgrade
    nonisolated let mailbox: Mailbox
    nonisolated let output = OutputQueue()
    let environment: ConnectionEnvironment
    var checker: ServerConnectionChecker
    let parser: ClientMessageParser
    let encoder: MessageEncoder
    var sessions: [SessionIdent: GatewaySession] = [:]
    /// The client's idents of the sessions, by the gateway's numbers.
    var numbers: [UInt64: SessionIdent] = [:]
    /// The subscription of each session that has told its owner of its bind, or is about to, by number.
    var subscriptions: [UInt64: Subscription] = [:]
    /// The time at which the client was last heard, by the monotonic clock: a step of the system's time must not cost every client its socket.
    var lastHeard = NIODeadline.now()
    var pace = MessagePace()
    var outdated = OutdatedFiles()
    var checkedAt: UInt64
    /// Set while the socket is open.
    var outbound: NIOAsyncChannelOutboundWriter<SocketOutput>?
    var budgeted = 0
    var isClosing = false
    /// Nothing can be written any more.
    var isLost = false
    /// Set with the first upload for which a client that is gone does not wait. The client uploads again what it has not heard of; a later upload must
    /// not be integrated without it, or its progress would tell the client that the earlier one had arrived.
    var dropsUploads = false
    var readers: [CheckedContinuation<Void, Never>] = []
    let logger: Logger

    init(upgrade: SyncUpgrade, environment: ConnectionEnvironment) {
        self.upgrade = upgrade
        self.environment = environment
        mailbox = Mailbox(limit: environment.limits.connectionOutboundBytes, metrics: environment.metrics)
        checker = ServerConnectionChecker(
            mode: upgrade.mode, version: upgrade.clientVersion, limits: environment.protocolLimits)
        parser = ClientMessageParser(mode: upgrade.mode, version: upgrade.version, limits: .ofClients)
        encoder = MessageEncoder(mode: upgrade.mode, version: upgrade.clientVersion, limits: environment.protocolLimits)
        checkedAt = environment.clock.unixMilliseconds()
        var logger = environment.logger
        logger[metadataKey: "connection"] = "\(upgrade.connectionID)"
        logger[metadataKey: "app"] = "\(upgrade.app)"
        self.logger = logger
    }

    /// Serves the socket until either side ends it.
    ///
    /// This task reads. Writing, and what the cluster says, are done by tasks that live as long as there is something to
    /// do: a gateway's memory is idle sessions, and a task that waits costs each of them kilobytes.
    func run(_ socket: SyncSocket) async {
        if let refusal = upgrade.refusal {
            close(refusal.code, refusal.reason)
        } else {
            // First of all: it tells the client by which rules to apply what follows.
            send(
                .logMessage(
                    LogMessage(
                        connectionID: upgrade.connectionID, compatibility: upgrade.compatibility?.rawValue)))
        }
        do {
            try await socket.executeThenClose { inbound, outbound in
                self.outbound = outbound
                self.startWriting()
                await self.read(inbound)
                self.stop()
            }
        } catch {
            logger.debug("a socket failed", metadata: ["error": "\(error)"])
        }
        outbound = nil
        ended()
    }

    private nonisolated func read(_ inbound: NIOAsyncChannelInboundStream<SocketInput>) async {
        do {
            for try await input in inbound {
                var next = await receive(input)
                while case .wait(let upload) = next {
                    try Task.checkCancellation()
                    await waitForRoom(for: upload)
                    next = await receive(input, isNew: false)
                }
                switch next {
                case .lookUp(let bind): await lookUpAndBind(bind)
                case .rest(let rest): try await Task.sleep(for: rest)
                case .goOn, .wait: break
                }
            }
        } catch {
            logger.debug("a socket was lost", metadata: ["error": "\(error)"])
        }
    }

    /// Starts the task that writes. To be called when `output` says so: one task writes at a time.
    func startWriting() {
        guard let outbound else { return }
        Task { await write(to: outbound) }
    }

    /// Writes until nothing waits.
    private nonisolated func write(to outbound: NIOAsyncChannelOutboundWriter<SocketOutput>) async {
        do {
            while case let items = output.take(), !items.isEmpty {
                try await outbound.write(contentsOf: items.lazy.map(\.output))
                for item in items { if let report = item.report { environment.link.notify(report) } }
                if output.written(items) { post(.drained) }
                // The handler lets the client read the end, then closes.
                if items.last?.endsSocket == true { return }
            }
        } catch {
            logger.debug("a socket takes no more", metadata: ["error": "\(error)"])
            await lost()
        }
    }

    /// The client does not listen any more. What it has said before counts all the same, a BIND above all: its owner is
    /// to hear of clients that leave at once, too. The reader comes to the end of it soon.
    private func lost() {
        isLost = true
        output.finish()
        resumeReaders()
    }

    /// The socket is gone: the sessions end, their owners hear of it.
    private func ended() {
        stop()
        for ident in sessions.keys { perform(.connectionLost, on: ident) }
    }

    private func stop() {
        isClosing = true
        output.finish()
        mailbox.finish()
        resumeReaders()
    }

    // MARK: Ends

    /// Ends the socket with a close code.
    ///
    /// - Parameter report: what the coordinator is told once the code is written.
    func close(_ code: UInt16, _ reason: String, report: NotifiedReport? = nil) {
        guard !isClosing else { return }
        finish(with: .close(code: code, reason: reason), report: report)
    }

    /// Ends the socket after what was sent, without a close frame.
    func hangUp() {
        guard !isClosing else { return }
        finish(with: .hangUp)
    }

    private func finish(with last: SocketOutput, report: NotifiedReport? = nil) {
        isClosing = true
        if output.push(OutputQueue.Item(output: last, report: report)) { startWriting() }
        output.finish()
        resumeReaders()
    }
}

extension ClientConnection: SessionSink {
    nonisolated func deliver(_ event: SessionEvent, to number: UInt64) { post(.event(event, number: number)) }
    nonisolated func settingsChanged(app: String) { post(.settings(app: app)) }
}

/// The parts of a gateway that all of its connections share.
struct ConnectionEnvironment: Sendable {
    var gateway: String
    var limits: GatewayLimits
    var timings: GatewayTimings
    var protocolLimits: ProtocolLimits
    var link: ClusterLink
    var apps: AppDirectory
    var accounts: AccountService
    var rights: RightsJudge
    var watch: AppWatch
    var registry: ConnectionRegistry
    var budget: UploadBudget
    var rates: RateQuotas
    var sets: SetQuotas
    var metrics: GatewayMetrics
    var clock: GatewayClock
    var logger: Logger
}
