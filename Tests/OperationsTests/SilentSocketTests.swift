import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import TestSupport
import Testing

@testable import Operations

/// Sockets that never come to a request, on the ports of operators.
@Suite(.hangGuard) struct SilentSocketTests {
    @Test(arguments: [false, true])
    func aSocketThatSendsNoRequestIsClosed(secured: Bool) async throws {
        try await Self.withService(secured: secured, firstRequest: .milliseconds(200)) { port in
            let connection = try await Self.connect(to: port)
            // Over TLS: the first byte of a handshake, and never another one.
            if secured { try await connection.writeAndFlush(ByteBuffer(bytes: [0x16])) }
            try await connection.closeFuture.get()
        }
    }

    @Test func aSocketThatHasSentItsRequestStays() async throws {
        try await Self.withService(secured: false, firstRequest: .seconds(3)) { port in
            let connection = try await Self.connect(to: port)
            try await connection.writeAndFlush(ByteBuffer(string: "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"))
            // A socket that came later, and is silent, is closed: the time of the first was over before.
            try await Self.connect(to: port).closeFuture.get()
            expectTrue(connection.isActive)
            try await connection.close()
        }
    }

    private static func connect(to port: Int) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(host: "127.0.0.1", port: port)
            .get()
    }

    private static func withService(
        secured: Bool, firstRequest: Duration, _ body: (Int) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var tls: ServerIdentity?
        if secured {
            let certificates = try TestCertificates()
            defer { try? FileManager.default.removeItem(at: certificates.folder) }
            try await certificates.makeAuthority("authority")
            try await certificates.makeServer("server", signedBy: "authority")
            tls = try ServerIdentity(
                listener: "operations",
                files: TLSFiles(certificate: certificates.path("server.pem"), key: certificates.path("server.key")),
                logger: logger)
        }
        let service = OperationsService(
            host: "127.0.0.1", port: 0, tls: tls, firstRequest: firstRequest, readiness: Readiness(), metrics: nil,
            logger: logger)
        let group = ServiceGroup(services: [service], logger: logger)
        let task = Task { try await group.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(try await service.boundPort.value()))
        } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        _ = await task.result
        try result.get()
    }
}
