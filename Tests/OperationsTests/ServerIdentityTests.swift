import AsyncHTTPClient
import Foundation
import Logging
import Metrics
import NIOCore
import NIOHTTP1
import NIOSSL
import ServiceLifecycle
import TestSupport
import Testing

@testable import Operations

/// A listener with a certificate of its own, over real sockets.
@Suite(.hangGuard) struct ServerIdentityTests {
    private static func withAuthorities(
        _ body: (TestCertificates) async throws -> Void
    ) async throws {
        let certificates = try TestCertificates()
        for name in ["old", "new"] {
            try await certificates.makeAuthority("\(name)-authority")
            try await certificates.makeServer("\(name)-server", signedBy: "\(name)-authority")
        }
        try certificates.replace("server", by: "old-server")
        try await body(certificates)
        try FileManager.default.removeItem(at: certificates.folder)
    }

    private static func identity(_ certificates: TestCertificates) throws -> ServerIdentity {
        try ServerIdentity(
            listener: "operations",
            files: TLSFiles(certificate: certificates.path("server.pem"), key: certificates.path("server.key")),
            logger: Logger(label: "tls") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs an operations endpoint behind TLS.
    private static func serve(_ identity: ServerIdentity, _ body: (Int) async throws -> Void) async throws {
        let logger = Logger(label: "tls") { _ in SwiftLogNoOpLogHandler() }
        let service = OperationsService(
            host: "127.0.0.1", port: 0, tls: identity, readiness: Readiness(), metrics: nil, logger: logger)
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

    /// A client that trusts one authority and keeps its connection.
    private static func withClient(
        trusting authority: String, _ certificates: TestCertificates,
        _ body: (@Sendable (Int) async throws -> UInt) async throws -> Void
    ) async throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificates.path("\(authority)-authority.pem"))
        let client = HTTPClient(configuration: .init(tlsConfiguration: tls))
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body { port in
                    let answer = try await client.execute(
                        HTTPClientRequest(url: "https://localhost:\(port)/health"), timeout: .seconds(30))
                    _ = try await answer.body.collect(upTo: 1000)
                    return answer.status.code
                })
        } catch { result = .failure(error) }
        try await client.shutdown()
        try result.get()
    }

    @Test func aNewCertificateIsForNewConnections() async throws {
        try await Self.withAuthorities { certificates in
            let identity = try Self.identity(certificates)
            try await Self.serve(identity) { port in
                try await Self.withClient(trusting: "old", certificates) { ask in
                    try await expectEqual(ask(port), 200)
                    try certificates.replace("server", by: "new-server")
                    identity.refresh()
                    // The open connection goes on; another one is shown the new certificate.
                    try await expectEqual(ask(port), 200)
                    try await Self.withClient(trusting: "old", certificates) { another in
                        await #expect(throws: (any Error).self) { _ = try await another(port) }
                    }
                    try await Self.withClient(trusting: "new", certificates) { another in
                        let status = try await another(port)
                        expectEqual(status, 200)
                    }
                }
            }
        }
    }

    @Test func anUnusableCertificateChangesNothing() async throws {
        try await Self.withAuthorities { certificates in
            let identity = try Self.identity(certificates)
            try await Self.serve(identity) { port in
                func isOld() async throws {
                    try await Self.withClient(trusting: "old", certificates) { ask in
                        let status = try await ask(port)
                        expectEqual(status, 200)
                    }
                }
                // A new certificate with the old key, as in the middle of a replacement.
                try certificates.replace("server", by: "new-server", parts: ["pem"])
                identity.refresh()
                expectTrue(identity.isFailing)
                try await isOld()
                try Data("no certificate".utf8).write(to: URL(filePath: certificates.path("server.pem")))
                identity.refresh()
                expectTrue(identity.isFailing)
                try await isOld()
                try FileManager.default.removeItem(atPath: certificates.path("server.pem"))
                identity.refresh()
                expectTrue(identity.isFailing)
                try await isOld()
                try certificates.replace("server", by: "old-server")
                identity.refresh()
                expectTrue(!identity.isFailing)
                try certificates.replace("server", by: "new-server")
                identity.refresh()
                expectTrue(!identity.isFailing)
                try await Self.withClient(trusting: "new", certificates) { ask in
                    let status = try await ask(port)
                    expectEqual(status, 200)
                }
            }
        }
    }

    @Test func filesThatCannotBeUsedAreNamed() async throws {
        try await Self.withAuthorities { certificates in
            try certificates.replace("server", by: "new-server", parts: ["key"])
            let mismatch = #expect(throws: OperationsError.self) { try Self.identity(certificates) }
            expectEqual(mismatch?.description.contains("operations.tls_certificate"), true)
            try FileManager.default.removeItem(atPath: certificates.path("server.key"))
            let missing = #expect(throws: OperationsError.self) { try Self.identity(certificates) }
            expectEqual(missing?.description.contains(certificates.path("server.key")), true)
        }
    }

    @Test func aCertificateNeedsItsKey() async throws {
        for name in ["GATEWAY", "COORDINATOR", "OPERATIONS"] {
            let error = await #expect(throws: OperationsError.self) {
                try await SluiceConfiguration.load(environment: ["SLUICE_\(name)_TLS_CERTIFICATE": "/tmp/a.pem"])
            }
            expectEqual(error?.description.contains("\(name.lowercased()).tls_key"), true)
        }
        let settings = try await SluiceConfiguration.load(environment: [
            "SLUICE_GATEWAY_TLS_CERTIFICATE": "/tmp/a.pem", "SLUICE_GATEWAY_TLS_KEY": "/tmp/a.key",
        ])
        expectEqual(settings.gateway.tls, TLSFiles(certificate: "/tmp/a.pem", key: "/tmp/a.key"))
        expectTrue(settings.coordinator.tls == nil && settings.operationsTLS == nil)
    }
}
