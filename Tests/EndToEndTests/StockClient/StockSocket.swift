import Foundation
import WireClient

/// The WebSocket of a client, frame by frame: nothing is added to what a test says, nothing is forgiven to the server.
actor StockSocket {
    typealias Event = ServerFrames.Event
    /// The answer to the upgrade.
    typealias Answer = HTTPAnswerHead

    private let tcp: TCPSocket
    private var reader: Task<Void, Never>?
    private var frames = ServerFrames()
    private var answer: Answer?
    private var events: [Event] = []

    private init(_ tcp: TCPSocket) { self.tcp = tcp }

    /// Connects and sends the upgrade request; returns with the server's answer, whatever it is.
    static func open(port: Int, request: String) async throws -> (socket: StockSocket, answer: Answer) {
        let socket = StockSocket(try await TCPSocket.connect(port: port))
        try await socket.start(request)
        let answer = try await StockClientError.within("the upgrade is answered") { await socket.answer }
        return (socket, answer)
    }

    private func start(_ request: String) async throws {
        reader = Task { [weak self, received = tcp.received] in
            for await bytes in received { await self?.receive(bytes) }
            await self?.append(.end)
        }
        try await tcp.write(Array(request.utf8))
    }

    func close() async { await tcp.close() }

    /// Everything that has come since the last call.
    func takeEvents() -> [Event] {
        defer { events = [] }
        return events
    }

    // MARK: To the server

    /// One binary message as one masked frame.
    func send(_ message: [UInt8]) async throws { try await tcp.write(ClientFrame.bytes(message)) }

    /// Bytes that are not a frame, or not a good one.
    func sendRaw(_ bytes: [UInt8]) async throws { try await tcp.write(bytes) }

    // MARK: From the server

    private func append(_ event: Event) { events.append(event) }

    private func receive(_ bytes: [UInt8]) {
        frames.append(bytes)
        if answer == nil { answer = frames.takeAnswer() }
        guard answer?.status == 101 else { return }
        while let event = frames.next() { events.append(event) }
    }
}
