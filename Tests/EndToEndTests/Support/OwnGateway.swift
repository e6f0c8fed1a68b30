import LocalCluster
import NIOCore
import NIOPosix
import Testing

/// A further gateway of the shared cluster for one test, which may kill and pause it without hurting the others.
struct OwnGateway: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let cluster = try SharedCluster.cluster
        let gateway = TestGateway(cluster: cluster, name: "gateway-of-\(cluster.app)")
        try await gateway.start()
        try await TestGateway.$own.withValue(gateway, operation: function)
        gateway.resume()
        await cluster.stop(gateway.name)
    }
}

extension Trait where Self == OwnGateway {
    static var ownGateway: Self { OwnGateway() }
}

/// The gateway that a test's clients talk to.
struct TestGateway: Sendable {
    @TaskLocal fileprivate static var own: TestGateway?

    /// The gateway of a test with the trait `.ownGateway`.
    static var mine: TestGateway {
        get throws {
            guard let own else { throw LocalClusterError("the test lacks the trait .ownGateway") }
            return own
        }
    }

    /// Where clients of the test connect to.
    static var url: String { get throws { try own?.url ?? SharedCluster.cluster.gatewayURL } }

    let cluster: LocalCluster
    let name: String
    private let port = FreePort.next()

    init(cluster: LocalCluster, name: String) {
        self.cluster = cluster
        self.name = name
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Starts it, or starts it again after it was killed, and returns once it takes connections.
    func start() async throws {
        try await cluster.start(name, "gateway", "--port", "\(port)")
        try await LocalCluster.retrying("the gateway takes connections") {
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            try await bootstrap.connect(host: "127.0.0.1", port: port).get().close().get()
        }
    }

    func kill() async { await cluster.kill(name) }
    func pause() { cluster.pause(name) }
    func resume() { cluster.resume(name) }
    func metric(_ metric: String) async throws -> Double { try await cluster.metric(metric, of: name) }
}
