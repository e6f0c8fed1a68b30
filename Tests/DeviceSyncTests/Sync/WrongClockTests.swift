import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Devices whose clock is wrong: what tokens say of time is said by the server's.
@Suite(.hangGuard)
struct WrongClockTests {
    private static let hour = 3600
    private static let year = 365 * 24 * 3600

    @Test(arguments: [-10 * year, -5 * hour, 5 * hour, 10 * year])
    func aDeviceConnectsWithOneRefreshAtMost(serverLead: Int) async throws {
        let server = TestServer()
        try await server.start()
        let device = Device(server)
        device.transport.serverLead = serverLead
        _ = try await device.login()
        func sync() async throws {
            let realm = try await Realm(configuration: device.configuration())
            try await realm.syncSession?.wait(for: .upload)
            try await realm.syncSession?.wait(for: .download)
        }
        // Logging in has told the time.
        try await sync()
        expectEqual(device.transport.count("session"), 0)
        // A launch without a login knows only the token of the last one.
        device.relaunch()
        try await sync()
        expectTrue(device.transport.count("session") <= 1)
        try await sync()
        expectTrue(device.transport.count("session") <= 1)
        device.quit()
    }

    @Test func tokensAreJudgedByTheClockThatMadeThem() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        let later = now.addingTimeInterval(1_000)
        var clock = ServerClock()
        expectEqual(clock.now(at: now), now)
        clock.received(StubTransport.token(5_000), at: now)
        expectEqual(clock.now(at: later), Date(timeIntervalSince1970: 6_000))
        let token = AccessToken(StubTransport.token(5_000))
        expectTrue(token?.isExpired(at: clock.now(at: later)) == false)
        expectTrue(token?.isExpired(at: clock.now(at: now.addingTimeInterval(1_900))) == true)
        clock.received("no token", at: later)
        expectEqual(clock.now(at: now), Date(timeIntervalSince1970: 5_000))
    }
}
