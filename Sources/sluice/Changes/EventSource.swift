import AdminAPI
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import Operations
import SyncModel

/// A server's event.
struct ServerEvent: Equatable {
    var name = "message"
    var id: String?
    var data: [UInt8] = []
}

/// Reads server-sent events from bytes as they come. Pure.
struct ServerEventParser {
    /// What one event may have: more than the largest document.
    private static let maxBytes = 64 << 20
    private var line: [UInt8] = []
    private var event = ServerEvent()
    private var hasData = false

    /// - Returns: the events that the bytes end; nil for a line beyond all bounds.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [ServerEvent]? {
        var events: [ServerEvent] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                guard line.count <= Self.maxBytes else { return nil }
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> ServerEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (event, hasData) = (ServerEvent(), false) }
            return hasData ? event : nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": event.name = String(decoding: value, as: UTF8.self)
        case "id": event.id = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { event.data.append(UInt8(ascii: "\n")) }
            event.data += value
            hasData = true
        default: break
        }
        return nil
    }
}

extension AdminClient {
    /// Follows a stream of events until it ends.
    ///
    /// - Parameter tell: returns whether to go on.
    func follow(_ path: String, _ tell: (ServerEvent) throws -> Bool) async throws {
        guard let authorities else { return try await follow(path, through: HTTPAnswer.client, tell) }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.additionalTrustRoots = [.file(authorities)]
        let client = HTTPAnswer.makeClient(.init(tlsConfiguration: tls))
        do {
            try await follow(path, through: client, tell)
        } catch {
            try? await client.shutdown()
            throw error
        }
        try await client.shutdown()
    }

    private func follow(
        _ path: String, through client: HTTPClient, _ tell: (ServerEvent) throws -> Bool
    ) async throws {
        var request = HTTPClientRequest(url: baseURL + path)
        request.headers.add(name: "Authorization", value: "Bearer \(token.revealed)")
        request.headers.add(name: "Accept", value: "text/event-stream")
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: .distantFuture)
        } catch {
            throw CommandFailure(
                .unreachable,
                "the coordinator at \(baseURL) does not answer: \(error); is it running, is the URL right?")
        }
        guard response.status == .ok else {
            let body = try await response.body.collect(upTo: 1 << 20)
            throw Self.failure(
                try? JSONDecoder().decode(AdminProblem.self, from: Data(buffer: body)), status: response.status,
                url: baseURL + path)
        }
        var parser = ServerEventParser()
        do {
            for try await part in response.body {
                guard let events = parser.read(part.readableBytesView) else {
                    throw CommandFailure(.internalError, "\(baseURL) sends an event that is too large")
                }
                for event in events where try !tell(event) { return }
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw CommandFailure(.tryAgain, "the stream from \(baseURL) broke off: \(error)")
        }
        throw CommandFailure(.tryAgain, "the coordinator at \(baseURL) has ended the stream: go on from the last place")
    }
}
