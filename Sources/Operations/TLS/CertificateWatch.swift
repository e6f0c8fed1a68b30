import NIOPosix
import ServiceLifecycle

/// Looks after the files of certificates while the process runs.
package struct CertificateWatch: Service {
    private let identities: [ServerIdentity]
    private let interval: Duration

    package init(_ identities: [ServerIdentity], interval: Duration) {
        self.identities = identities
        self.interval = interval
    }

    package func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            for identity in identities { try? await NIOThreadPool.singleton.runIfActive { identity.refresh() } }
        }
    }
}
