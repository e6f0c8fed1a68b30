import Foundation

/// The WebSocket of a client, frame by frame: nothing is added to what a test says, nothing is forgiven to the server.
actor StockSocket {
    enum Event: Sendable, Equatable {
        case message([UInt8])
        case close(code: UInt16, reason: String)
        /// The TCP connection is gone.
        case end
    }

    /// The answer to the upgrade.
    struct Answer: Sendable {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
    }

    private let tcp: TCPSocket
    private var reader: Task<Void, Never>?
    private var buffer: [UInt8] = []
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
    func send(_ message: [UInt8]) async throws { try await tcp.write(Self.frame(message)) }

    /// Bytes that are not a frame, or not a good one.
    func sendRaw(_ bytes: [UInt8]) async throws { try await tcp.write(bytes) }

    static func frame(_ payload: [UInt8], opcode: UInt8 = 2, reserved: UInt8 = 0, isMasked: Bool = true) -> [UInt8] {
        var frame: [UInt8] = [0x80 | reserved | opcode]
        let maskBit: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case 0...125: frame.append(maskBit | UInt8(payload.count))
        case 126...0xFFFF: frame += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            frame.append(maskBit | 127)
            frame += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        guard isMasked else { return frame + payload }
        let mask = (0..<4).map { _ in UInt8.random(in: 0 ... .max) }
        frame += mask
        frame.reserveCapacity(frame.count + payload.count)
        for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index & 3]) }
        return frame
    }

    // MARK: From the server

    private func append(_ event: Event) { events.append(event) }

    private func receive(_ bytes: [UInt8]) {
        buffer += bytes
        if answer == nil { readAnswer() }
        guard answer?.status == 101 else { return }
        while let event = readFrame() { events.append(event) }
    }

    private func readAnswer() {
        guard let end = buffer.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) else { return }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        answer = Answer(status: status ?? 0, headers: headers)
        buffer = Array(buffer[end.upperBound...])
    }

    /// A stock client refuses masked frames, reserved bits and, from this server, fragments.
    private func readFrame() -> Event? {
        guard buffer.count >= 2 else { return nil }
        guard buffer[0] & 0xF0 == 0x80, buffer[1] & 0x80 == 0 else {
            buffer = []
            return .close(code: 0, reason: "the server sent a fragment, reserved bits or a masked frame")
        }
        var header = 2
        var length = Int(buffer[1] & 0x7F)
        if length >= 126 {
            let count = length == 126 ? 2 : 8
            guard buffer.count >= 2 + count else { return nil }
            length = buffer[2..<2 + count].reduce(0) { $0 << 8 | Int($1) }
            header += count
        }
        guard buffer.count >= header + length else { return nil }
        let payload = Array(buffer[header..<header + length])
        let opcode = buffer[0] & 0x0F
        buffer = Array(buffer[(header + length)...])
        switch opcode {
        case 2: return .message(payload)
        case 8:
            let code = payload.count < 2 ? 1005 : UInt16(payload[0]) << 8 | UInt16(payload[1])
            return .close(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
        default: return .close(code: 0, reason: "the server sent a frame of kind \(opcode)")
        }
    }
}
