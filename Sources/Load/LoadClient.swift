import Foundation
import NIOCore
import NIOWebSocket
import SyncModel

/// A client of a run: keeps its session open, and writes at its rate.
actor LoadClient {
    private struct Ended: Error, CustomStringConvertible {
        var description: String
        var isFinal = false
    }

    private static let pingInterval = Duration.seconds(60)
    /// Seconds until the next attempt to connect, at most.
    private static let longestPause = 5.0

    private let number: Int
    private let plan: LoadPlan
    private let target: LoadTarget
    private let token: String
    private let clock: LoadClock
    private let gate: Gate
    private let ledger: LoadLedger
    private var session: LoadSession
    private var serial = 0

    init(
        _ number: Int, _ plan: LoadPlan, _ target: LoadTarget, token: String, _ clock: LoadClock, _ gate: Gate,
        _ ledger: LoadLedger
    ) {
        self.number = number
        self.plan = plan
        self.target = target
        self.token = token
        self.clock = clock
        self.gate = gate
        self.ledger = ledger
        session =
            plan.mode == .flexible
            ? LoadSession(subscribingTo: plan.queries(of: number))
            : LoadSession(partition: plan.name(ofGroup: plan.group(of: number)))
    }

    /// Goes on until the task is cancelled, or the client cannot come back.
    func run() async {
        var pause = 0.5
        var attempts = 0
        while !Task.isCancelled {
            let begun = clock.now
            if attempts > 0 { ledger.reconnects() }
            attempts += 1
            do {
                let socket = try await LoadSocket.connect(target, app: plan.app, mode: plan.mode, token: token)
                try await serve(socket, begun: begun)
            } catch {
                if !Task.isCancelled { ledger.failed(Self.words(error)) }
                if (error as? Ended)?.isFinal == true || session.isOver { break }
            }
            session.closed()
            ledger.wasLost(number)
            if clock.now - begun > 10_000_000_000 { pause = 0.5 }
            try? await Task.sleep(for: .seconds(pause * Double.random(in: 0.5...1.5)))
            pause = min(pause * 2, Self.longestPause)
        }
        ledger.isOver(number)
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let ended as Ended: ended.description
        case let refusal as LoadRefusal: "connecting: \(refusal)"
        default: "connecting: \(String(describing: type(of: error)))"
        }
    }

    private func serve(_ socket: LoadSocket.Socket, begun: Int64) async throws {
        try await socket.executeThenClose { inbound, outbound in
            try await send(try session.opened().messages, outbound)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for try await frame in inbound { try await self.take(frame, outbound, begun: begun) }
                    throw Ended(description: "the gateway closed the socket")
                }
                group.addTask { try await self.write(outbound) }
                group.addTask { try await self.ping(outbound) }
                defer { group.cancelAll() }
                // The first to end has failed.
                _ = try await group.next()
            }
        }
    }

    private func take(
        _ frame: WebSocketFrame, _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>, begun: Int64
    ) async throws {
        switch frame.opcode {
        case .binary:
            let now = clock.now
            let effects = try session.received(Array(frame.unmaskedData.readableBytesView))
            ledger.saw(effects, number, at: now)
            if effects.becameLive { ledger.isLive(number, after: now - begun) }
            try await send(effects.messages, outbound)
            guard let failure = effects.failure else { return }
            let words = "error \(failure.code): \(failure.message)"
            guard failure.endsSession else { return ledger.failed(words) }
            throw Ended(description: words, isFinal: failure.isFinal)
        case .connectionClose:
            let data = frame.unmaskedData
            let code = data.getInteger(at: data.readerIndex, as: UInt16.self).map { "\($0)" } ?? "none"
            throw Ended(description: "close code \(code)")
        default: return
        }
    }

    /// Writes at the client's rate, in step with nobody.
    private func write(_ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>) async throws {
        await gate.wait()
        guard plan.rate > 0 else { return try await Task.sleep(for: .seconds(86_400)) }
        let interval = 1 / plan.rate
        var next = clock.now + Int64(interval * Double.random(in: 0...1) * 1e9)
        while true {
            let wait = next - clock.now
            if wait > 0 { try await Task.sleep(for: .nanoseconds(wait)) }
            next += Int64(interval * Double.random(in: 0.5...1.5) * 1e9)
            try Task.checkCancellation()
            guard clock.isWriting else { continue }
            guard session.canWrite else {
                ledger.heldBack()
                continue
            }
            let now = clock.now
            let changeset = LoadWrites.changeset(
                client: number, serial: serial, group: plan.name(ofGroup: plan.group(of: number)),
                objects: plan.objects, bytes: plan.bytes, at: now,
                declares: plan.mode == .partition && serial == 0)
            serial += 1
            let timestamp = SyncTimestamp(unixMilliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            let effects = try session.write(changeset, at: now, timestamp: timestamp)
            ledger.sent(number, at: now)
            try await send(effects.messages, outbound)
        }
    }

    private func ping(_ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>) async throws {
        while true {
            try await Task.sleep(for: Self.pingInterval)
            let milliseconds = UInt64(max(0, Date().timeIntervalSince1970 * 1000))
            try await send([try session.ping(at: milliseconds)], outbound)
        }
    }

    private func send(
        _ messages: [[UInt8]], _ outbound: NIOAsyncChannelOutboundWriter<WebSocketFrame>
    ) async throws {
        for message in messages {
            try await outbound.write(
                WebSocketFrame(
                    fin: true, opcode: .binary, maskKey: .random(), data: ByteBuffer(bytes: message)))
        }
    }
}
