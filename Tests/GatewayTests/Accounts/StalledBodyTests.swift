import Foundation
import Hummingbird
import Operations
import TestSupport
import Testing

@testable import Gateway

/// Requests whose body does not come.
@Suite(.timeLimit(.minutes(5)))
struct StalledBodyTests {
    private static let half = """
        POST /api/client/v2.0/app/tasks/auth/providers/local-userpass/login HTTP/1.1\r
        Host: localhost\r
        Content-Type: application/json\r
        Content-Length: 100\r
        \r
        {"username"
        """

    @Test func aBodyThatStallsIsAnswered408() async throws {
        try await GatewayHarness.with { gateway in
            let start = ContinuousClock.now
            let head = try await RawSocket.with(port: gateway.port) { stream in
                try await stream.write(Self.half)
                return try await stream.readHead()
            }
            #expect(head?.hasPrefix("HTTP/1.1 408") == true)
            #expect(ContinuousClock.now - start >= Request.bodyPatience)
        }
    }

    @Test func aBodyThatStallsDoesNotHoldUpTheEnd() async throws {
        let start = ContinuousClock.now
        try await GatewayHarness.with { gateway in
            let sent = AsyncStream<Void>.makeStream()
            _ = Task {
                try await RawSocket.with(port: gateway.port) { stream in
                    try await stream.write(Self.half)
                    try await Task.sleep(for: .milliseconds(200))
                    sent.continuation.yield()
                    _ = try await stream.readToEnd()
                }
            }
            for await _ in sent.stream { break }
        }
        #expect(ContinuousClock.now - start < Request.bodyPatience)
    }
}
