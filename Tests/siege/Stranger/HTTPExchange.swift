import Foundation
import WireClient

/// One HTTP request on a connection of its own, and its answer.
struct HTTPExchange: Sendable {
    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]

        /// The string values of the answer's JSON object.
        var strings: [String: String] {
            let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
            return (object ?? [:]).compactMapValues { $0 as? String }
        }
    }

    var port: Int
    /// The address that the server sees.
    var source: String
    var tally: Tally

    /// - Parameter patience: how long the answer may take, as long as with stock clients; a connection without an answer counts as refused.
    func ask(
        _ method: String, _ path: String, body: [UInt8] = [], bearer: String? = nil, headers: [String] = [],
        patience: Duration = .seconds(60)
    ) async throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        if method != "GET" {
            head += "Content-Type: application/json;charset=utf-8\r\nContent-Length: \(body.count)\r\n"
        }
        if let bearer { head += "Authorization: Bearer \(bearer)\r\n" }
        for header in headers { head += header + "\r\n" }
        return try await send(Array((head + "\r\n").utf8) + body, patience: patience)
    }

    /// Sends bytes that need not be a request, and reads until the server ends the connection.
    func send(_ bytes: [UInt8], patience: Duration = .seconds(60)) async throws -> Answer {
        let socket = try await TCPSocket.connect(port: port, from: source)
        let timer = Task {
            try await Task.sleep(for: patience)
            await socket.close()
        }
        defer { timer.cancel() }
        tally.sent(bytes.count)
        do {
            try await socket.write(bytes)
        } catch {
            // The server may have answered and closed before all was sent; what it said has come.
        }
        var answer: [UInt8] = []
        for await piece in socket.received {
            tally.received(piece.count)
            answer += piece
        }
        await socket.close()
        guard let (head, length) = HTTPAnswerHead.parse(answer) else {
            tally.refused("HTTP cut")
            throw Refused("the connection ended without an answer")
        }
        if head.status >= 400 { tally.refused("HTTP \(head.status)") } else { tally.accepted() }
        return Answer(status: head.status, body: Array(answer[length...]))
    }
}
