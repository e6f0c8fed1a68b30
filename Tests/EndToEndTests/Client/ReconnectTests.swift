import DeviceSync
import LocalCluster
import Synchronization
import TestSupport
import Testing

extension SharedClusterTests.SessionTests {
    /// Sessions that wait for longer and longer between their attempts to connect.
    @MainActor @Suite struct ReconnectTests {
        /// When each attempt of a session began and ended.
        private final class Attempts: Sendable {
            struct Times {
                var begun: [ContinuousClock.Instant] = []
                var ended: [ContinuousClock.Instant] = []
            }
            private let times = Mutex(Times())
            private let token = Mutex<NotificationToken?>(nil)

            init(of session: SyncSession) {
                let token = session.observeConnectionState { [weak self] state in
                    self?.times.withLock { times in
                        switch state {
                        case .connecting: times.begun.append(.now)
                        case .disconnected: if times.ended.count < times.begun.count { times.ended.append(.now) }
                        case .connected: break
                        }
                    }
                }
                self.token.withLock { $0 = token }
            }

            var begun: [ContinuousClock.Instant] { times.withLock { $0.begun } }
            var ended: [ContinuousClock.Instant] { times.withLock { $0.ended } }
        }

        /// An app asks one of its sessions to reconnect. That ends the wait of all of them, each of which has a connection of its own, and
        /// where there is still no server they begin anew with a second.
        @Test(.ownGateway) func reconnectRequestEndsTheWaitOfAllSessions() async throws {
            let cluster = try SharedCluster.cluster
            let app = try await cluster.newApp()
            let phones = [try await Phone(of: app), try await Phone(of: app)]
            let attempts = try phones.map { Attempts(of: try $0.session) }
            try await TestGateway.mine.kill()
            // Waits double, beginning with a second for what comes after the loss, and each is less by a quarter at most.
            try await eventually("all are in their wait of four seconds") {
                attempts.allSatisfy { $0.ended.count >= 3 && $0.begun.count == $0.ended.count }
            }
            let counts = attempts.map { $0.ended.count }
            try phones[0].session.reconnect()
            for (attempts, count) in zip(attempts, counts) {
                try await eventually("it has tried twice more") { attempts.begun.count >= count + 2 }
                let (begun, ended) = (attempts.begun, attempts.ended)
                expectTrue(begun[count - 1] - ended[count - 2] >= .seconds(1.5))
                expectTrue(begun[count] - ended[count - 1] < .seconds(3))
                expectTrue(begun[count + 1] - ended[count] < .seconds(3))
            }
            try await TestGateway.mine.start()
            try phones[1].session.reconnect()
            for phone in phones { try await phone.upload() }
        }
    }
}
