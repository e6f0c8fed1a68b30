import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// Connections that come up when nobody needs them any more.
@Suite(.hangGuard)
struct LateConnectionTests {
    /// Real sockets. That they are open is told later, where the test wants that.
    private final class SlowConnector: WebSocketConnecting {
        private struct State {
            var isSlow = false
            var late: [@Sendable () -> Void] = []
        }
        private let inner = NIOWebSocketConnector()
        private let state = Mutex(State())

        var hasLate: Bool { state.withLock { !$0.late.isEmpty } }
        func slowDown() { state.withLock { $0.isSlow = true } }
        func tell() {
            let late = state.withLock { state in
                defer { state = State() }
                return state.late
            }
            for tell in late { tell() }
        }

        func connect(
            _ request: WebSocketRequest, _ events: @escaping @Sendable (WebSocketEvent) -> Void
        ) -> any WebSocketChannel {
            inner.connect(request) { event in
                let isLate = self.state.withLock { state in
                    guard state.isSlow, case .opened = event else { return false }
                    state.late.append { events(event) }
                    return true
                }
                if !isLate { events(event) }
            }
        }
    }

    @Test func connectionWhoseLastRealmIsClosedBeforeItIsOpenEnds() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let connector = SlowConnector()
        device.app.core.sync.setConnector(connector)
        device.app.syncManager.timeoutOptions = SyncTimeoutOptions(connectionLingerTime: 0)
        _ = try await device.login()
        func open(_ isReady: (SyncSession) async throws -> Void) async throws {
            let realm = try await Realm(configuration: device.configuration())
            try await isReady(#require(realm.syncSession))
            withExtendedLifetime(realm) {}
        }
        try await open { try await $0.wait(for: .upload) }
        await expectTrue(eventually { server.connectionCount == 0 })

        connector.slowDown()
        try await open { _ in await expectTrue(eventually { connector.hasLate }) }
        await expectTrue(eventually { device.app.core.sync.allSessions.isEmpty })
        expectEqual(server.connectionCount, 1)
        connector.tell()
        await expectTrue(eventually { server.connectionCount == 0 })
    }
}
