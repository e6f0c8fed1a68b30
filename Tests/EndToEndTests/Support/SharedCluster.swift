import LocalCluster
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// One cluster for all tests of a suite, each of which makes an app of its own in it.
struct SharedCluster: SuiteTrait, TestScoping {
    @TaskLocal private static var running: LocalCluster?

    static var cluster: LocalCluster {
        get throws {
            guard let running else { throw LocalClusterError("the suite lacks the trait .sharedCluster") }
            return running
        }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withCluster(workers: 1, slices: 2) { cluster in
            try await Self.$running.withValue(cluster, operation: function)
        }
    }
}

extension Trait where Self == SharedCluster {
    static var sharedCluster: Self { SharedCluster() }
}

extension LocalCluster {
    private static let appNumber = Atomic(0)

    /// Makes an app that no other test has, open to every user, who log in with tokens.
    ///
    /// - Parameter options: of `sluice apps create`.
    func newApp(_ options: String...) async throws -> String {
        let app = "\(prefix)-\(Self.appNumber.wrappingAdd(1, ordering: .relaxed).newValue)"
        _ = try await operate(["apps", "create", app, "--rules", "open"] + options)
        try await CustomToken.allow(in: app, of: self)
        return app
    }

    /// Starts the gateway again after it was killed, and returns once it takes connections.
    func restartGateway() async throws {
        try await startGateway()
        try await Self.retrying("the gateway takes connections") {
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            try await bootstrap.connect(host: "127.0.0.1", port: gatewayPort).get().close().get()
        }
    }
}
