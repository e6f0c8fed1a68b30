import Foundation
import Hummingbird
import Logging
import Operations
import ServiceLifecycle
import TestSupport
import Testing

@testable import Gateway

/// Requests whose body does not come.
@Suite(.hangGuard)
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
            expectEqual(head?.hasPrefix("HTTP/1.1 408"), true)
            expectTrue(ContinuousClock.now - start >= Request.bodyPatience)
        }
    }

    /// A server whose patience with bodies is longer than this suite may take.
    @Test func aBodyThatStallsDoesNotHoldUpTheEnd() async throws {
        let router = Router()
        let begun = AsyncStream<Void>.makeStream()
        router.post("**") { request, _ in
            begun.continuation.yield()
            do {
                _ = try await request.wholeBody(upTo: 1024, within: .seconds(3600))
                return "whole"
            } catch let late as LateRequestBody {
                return late.isStopping ? "stopping" : "late"
            }
        }
        let ports = AsyncStream<Int>.makeStream()
        let logger = Logger(label: "test")
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in ports.continuation.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask {
                defer { Task { await group.triggerGracefulShutdown() } }
                let port = try #require(await ports.stream.first { _ in true })
                let answer = try await RawSocket.with(port: port) { stream in
                    try await stream.write(Self.half)
                    _ = await begun.stream.first { _ in true }
                    await group.triggerGracefulShutdown()
                    return String(decoding: try await stream.readToEnd(), as: UTF8.self)
                }
                expectTrue(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("stopping"), "\(answer)")
            }
            try await tasks.waitForAll()
        }
    }
}
