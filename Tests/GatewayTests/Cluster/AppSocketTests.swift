import Storage
import StorageSupport
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

/// A flood of sockets from one app hurts that app.
@Suite(.hangGuard)
struct AppSocketTests {
    private static func seat(_ sockets: AppSockets, _ app: String, user: String = "") -> AppSockets.Seat? {
        guard case .seat(let seat) = sockets.seat(for: AppUser(app: app, user: user), userLimit: 2) else { return nil }
        return seat
    }

    @Test func seatsAreCountedForEachAppAndGivenBackOnce() throws {
        let sockets = AppSockets(limit: 2)
        let first = try #require(Self.seat(sockets, "a"))
        let second = try #require(Self.seat(sockets, "a"))
        expectTrue(Self.seat(sockets, "a") == nil)
        let other = try #require(Self.seat(sockets, "b"))
        first.giveUp()
        first.giveUp()
        expectEqual(sockets.count(of: "a"), 1)
        let third = try #require(Self.seat(sockets, "a"))
        expectTrue(Self.seat(sockets, "a") == nil)
        for seat in [second, third, other] { seat.giveUp() }
        expectEqual(sockets.count(of: "a"), 0)
        expectEqual(sockets.count(of: "b"), 0)
    }

    @Test func aUserThatHasAsManyAsItMayLeavesRoomForTheOthersOfItsApp() throws {
        let sockets = AppSockets(limit: 4)
        let first = try #require(Self.seat(sockets, "a", user: "flood"))
        let second = try #require(Self.seat(sockets, "a", user: "flood"))
        expectTrue(Self.seat(sockets, "a", user: "flood") == nil)
        let other = try #require(Self.seat(sockets, "a", user: "calm"))
        second.giveUp()
        let third = try #require(Self.seat(sockets, "a", user: "flood"))
        for seat in [first, third, other] { seat.giveUp() }
        expectEqual(sockets.count(of: "a"), 0)
        expectTrue(Self.seat(sockets, "a", user: "flood") != nil)
    }

    @Test func aSeatThatIsForgottenIsFree() {
        let sockets = AppSockets(limit: 1)
        do {
            let seat = Self.seat(sockets, "a")
            expectTrue(seat != nil)
            expectEqual(sockets.count(of: "a"), 1)
        }
        expectEqual(sockets.count(of: "a"), 0)
    }

    @Test(.needsBroker) func anAppThatIsFullIsToldWhenToComeBackAndOthersGoOn() async throws {
        try await GatewayHarness.with(broker: true, configure: { $0.limits.maxAppConnections = 2 }) { gateway in
            try await gateway.store.insert(AppRecord(id: "other", createdAt: 1), rules: TestRules.open)
            let tokens = try await gateway.logInAnonymously()
            let elsewhere = try await gateway.logInAnonymously(app: "other")
            try await SyncClient.with(port: gateway.port, token: tokens.access) { first in
                _ = try await SessionOpening.open(&first)
                try await SyncClient.with(port: gateway.port, token: tokens.access) { second in
                    _ = try await SessionOpening.open(&second, partition: "\"second\"")
                    let refusal = try await Self.answer(gateway, token: tokens.access)
                    expectTrue(refusal.hasPrefix("HTTP/1.1 503"))
                    expectTrue(refusal.contains("Retry-After: "))
                    expectTrue(refusal.contains("app tasks has 2 connections to this gateway"))
                    try await SyncClient.with(port: gateway.port, app: "other", token: elsewhere.access) { other in
                        _ = try await SessionOpening.open(&other)
                    }
                }
                // The second one's seat is free a moment after its end.
                try await eventually("there is a seat again") {
                    let status = try await RawSocket.with(port: gateway.port) { stream in
                        try await stream.write(SyncClient.request(token: tokens.access))
                        return try await stream.readHead() ?? ""
                    }
                    return status.hasPrefix("HTTP/1.1 101")
                }
                // The connections that were there have noticed nothing.
                _ = try await SessionOpening.open(&first, session: 2, partition: "\"third\"")
            }
        }
    }

    /// The whole answer to a handshake that is refused.
    private static func answer(_ gateway: GatewayHarness, token: String) async throws -> String {
        try await RawSocket.with(port: gateway.port) { stream in
            try await stream.write(SyncClient.request(token: token))
            return String(decoding: try await stream.readToEnd(), as: UTF8.self)
        }
    }
}
