import Foundation
import NIOCore
import NIOPosix
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import DeviceSync

/// What the kernel says of the network, and what becomes of it.
@Suite(.hangGuard, .serialized)
struct NetworkMonitorTests {
    /// Datagrams of a kernel, as `ip` made it send them; of links the attributes are cut off.
    enum Recorded: String, CaseIterable {
        case linkUp = "20000000100000000000000000000000 0000040301000000 4900010001000000"
        case linkDown = "20000000100000000000000000000000 0000040301000000 0800000001000000"
        case address =
            "4c000000140000001e34086b033900000218800001000000080001000a080001080002000a080001070003006c6f0000080008008000000014000600ffffffffffffffffb9b30300b9b30300"
        case addressGone =
            "500000001500000000000000000000000a8080fe01000000140001000000000000000000000000000000000114000600ffffffffffffffff40b3030040b30300080008008000000005000b0001000000"
        case route =
            "34000000180000061e34086bed38000002100000fe03fd010000000008000f00fe000000080001000a0900000800040001000000"
        case routeGone =
            "34000000190000001f34086b0939000002100000fe03fd010000000008000f00fe000000080001000a0900000800040001000000"

        var bytes: [UInt8] {
            let digits = Array(rawValue.filter { $0 != " " })
            return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        }

        var isNewWay: Bool { [.linkUp, .address, .route].contains(self) }
    }

    @Test(arguments: Recorded.allCases)
    func networkGainsAreToldFromLosses(message: Recorded) {
        expectEqual(RouteMessages.tellOfNewWays(message.bytes), message.isNewWay)
        // Behind another message, and with one byte missing.
        expectEqual(RouteMessages.tellOfNewWays(Recorded.routeGone.bytes + message.bytes), message.isNewWay)
        expectTrue(!RouteMessages.tellOfNewWays(message.bytes.dropLast()))
    }

    @Test func garbageSaysNothing() {
        expectTrue(!RouteMessages.tellOfNewWays([]))
        expectTrue(!RouteMessages.tellOfNewWays([UInt8](repeating: 0, count: 64)))
        expectTrue(!RouteMessages.tellOfNewWays([UInt8](repeating: 0xFF, count: 64)))
    }

    /// Runs in a network namespace of its own, which only root can make.
    @Test(.enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/sbin/ip")))
    func theKernelTellsOfANewAddress() async throws {
        let changes = Mutex(0)
        let group = MultiThreadedEventLoopGroup.singleton
        let channel = try await onThread {
            try Self.leaveNetwork()
            let channel = try RouteSocket.open(on: group.next(), pause: .milliseconds(1)) {
                changes.withLock { $0 += 1 }
            }.wait()
            // A child process has the namespace of the thread that starts it.
            try Self.run("/usr/sbin/ip", "link", "set", "lo", "up")
            return channel
        }
        await expectTrue(eventually { changes.withLock { $0 } > 0 })
        try await channel.close()
    }

    private static func leaveNetwork() throws {
        let symbol = try #require(dlsym(nil, "unshare"))
        let unshare = unsafeBitCast(symbol, to: (@convention(c) (CInt) -> CInt).self)
        let newNetwork: CInt = 0x4000_0000
        try #require(unshare(newNetwork) == 0)
    }

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// Never gets a connection.
    private final class Unreachable: WebSocketConnecting {
        let attempts = Mutex(0)

        struct Nothing: WebSocketChannel {
            var isFull: Bool { false }
            func send(_ bytes: [UInt8]) {}
            func consumed(_ bytes: Int) {}
            func close() {}
        }

        func connect(
            _ request: WebSocketRequest, _ events: @escaping @Sendable (WebSocketEvent) -> Void
        ) -> any WebSocketChannel {
            attempts.withLock { $0 += 1 }
            events(.ended(.unreachable))
            return Nothing()
        }
    }

    /// Nine waits that double are more than four minutes.
    @Test func aNewWayEndsTheWaitForTheNextAttempt() async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        let connector = Unreachable()
        device.app.core.sync.setConnector(connector)
        _ = try await device.login()
        let realm = try await Realm(configuration: device.configuration())
        for attempts in 1...9 {
            await expectTrue(eventually { connector.attempts.withLock { $0 } >= attempts })
            NetworkMonitor.shared.changed()
        }
        expectEqual(realm.syncSession?.state, .active)
    }
}
