import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What stands in front of gateways: spreads connections over those that are ready, asks each every second whether it is, and closes
/// the connections to one that has failed to say so twice.
package final class LoadBalancer: Sendable {
    package struct Gateway: Sendable {
        var host: String
        var port: Int
        /// Where it says whether it is ready.
        var operationsPort: Int

        package init(host: String, port: Int, operationsPort: Int) {
            self.host = host
            self.port = port
            self.operationsPort = operationsPort
        }
    }

    private static let interval: Duration = .seconds(1)
    private static let patience: TimeInterval = 2
    private static let tolerated = 1

    private let gateways: [Gateway]
    private let proxy: TCPProxy
    private let checks = Mutex<[Task<Void, Never>]>([])

    package init(gateways: [Gateway]) {
        self.gateways = gateways
        proxy = TCPProxy(targets: gateways.map { .init(host: $0.host, port: $0.port) })
    }

    package var url: String { "http://127.0.0.1:\(proxy.port)" }

    package func start() async throws {
        try await proxy.start()
        let running = gateways.map { gateway in Task { await watch(gateway) } }
        checks.withLock { $0 = running }
    }

    package func stop() async {
        for check in checks.withLock({ $0 }) { check.cancel() }
        await proxy.stop()
    }

    private func watch(_ gateway: Gateway) async {
        let target = TCPProxy.Target(host: gateway.host, port: gateway.port)
        var failures = 0
        while !Task.isCancelled {
            failures = await isReady(gateway) ? 0 : failures + 1
            proxy.withdraw(target, failures > Self.tolerated)
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func isReady(_ gateway: Gateway) async -> Bool {
        guard let url = URL(string: "http://\(gateway.host):\(gateway.operationsPort)/ready") else { return false }
        var request = URLRequest(url: url, timeoutInterval: Self.patience)
        // A connection that is kept would not show that no other can be made.
        request.setValue("close", forHTTPHeaderField: "Connection")
        let answer = try? await URLSession.shared.data(for: request)
        return (answer?.1 as? HTTPURLResponse)?.statusCode == 200
    }
}
