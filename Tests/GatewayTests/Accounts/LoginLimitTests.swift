import Dispatch
import Foundation
import NIOPosix
import Operations
import TestSupport
import Testing

@testable import Gateway

/// Failed logins: who is held off by them, and who is not. The addresses are those that a trusted proxy names.
@Suite(.hangGuard) struct LoginLimitTests {
    private static let userpass = "\(GatewayHarness.app)/auth/providers/local-userpass"
    private static let owner = "192.0.2.1"

    private static func with(
        _ limits: @escaping (inout GatewayLimits.FailedLogins) -> Void,
        _ body: @Sendable @escaping (GatewayHarness) async throws -> Void
    ) async throws {
        try await GatewayHarness.with(
            configure: {
                $0.proxies.trusted = (try? AddressRanges("127.0.0.1")) ?? AddressRanges()
                limits(&$0.limits.failedLogins)
            }, body)
    }

    private static func register(_ gateway: GatewayHarness, _ name: String) async throws {
        let answer = try await gateway.request(
            "POST", "\(userpass)/register", body: #"{"email":"\#(name)","password":"secret-1"}"#)
        expectEqual(answer.status, 201)
    }

    private static func login(
        _ gateway: GatewayHarness, _ name: String, _ password: String = "secret-2", from address: String
    ) async throws -> HTTPAnswer {
        try await gateway.request(
            "POST", "\(userpass)/login", body: #"{"username":"\#(name)","password":"\#(password)"}"#,
            headers: ["X-Forwarded-For": address])
    }

    @Test func oneAddressCannotSprayNames() async throws {
        try await Self.with({ $0.address = .init(burst: 3, perMinute: 0) }) { gateway in
            try await Self.register(gateway, "right@b.c")
            for number in 0..<3 {
                try await expectEqual(
                    Self.login(gateway, "a\(number)@b.c", from: "2001:db8:0:1::\(number)").status, 401)
            }
            // The whole network is held off, with the right password too.
            for (name, password) in [("a9@b.c", "secret-2"), ("right@b.c", "secret-1")] {
                let refused = try await Self.login(gateway, name, password, from: "2001:db8:0:1::9")
                expectEqual(refused.status, 429)
                expectEqual(refused.string("error_code"), "RateLimitExceeded")
                expectEqual(refused.string("error")?.contains("from this address"), true)
                expectTrue(Int(refused.headers["retry-after"] ?? "") ?? 0 > 0)
            }
            try await expectEqual(Self.login(gateway, "right@b.c", "secret-1", from: "2001:db8:0:2::1").status, 200)
        }
    }

    @Test func aStrangerLocksNobodyOutOfTheAddressesThatTheyUse() async throws {
        try await Self.with({
            $0.account = .init(burst: 2, perMinute: 0)
            $0.knownAddress = .init(burst: 2, perMinute: 0)
        }) { gateway in
            try await Self.register(gateway, "ann@b.c")
            try await expectEqual(Self.login(gateway, "ann@b.c", "secret-1", from: Self.owner).status, 200)
            for number in 1...2 {
                try await expectEqual(Self.login(gateway, "ann@b.c", from: "198.51.100.\(number)").status, 401)
            }
            for address in ["198.51.100.3", "203.0.113.1"] {
                let refused = try await Self.login(gateway, "ann@b.c", "secret-1", from: address)
                expectEqual(refused.status, 429)
                expectEqual(refused.string("error")?.contains("to this account"), true)
            }
            try await expectEqual(Self.login(gateway, "ann@b.c", from: Self.owner).status, 401)
            try await expectEqual(Self.login(gateway, "ann@b.c", "secret-1", from: Self.owner).status, 200)
            // Where the owner is, not everything may be tried either.
            try await expectEqual(Self.login(gateway, "ann@b.c", from: Self.owner).status, 401)
            try await expectEqual(Self.login(gateway, "ann@b.c", from: Self.owner).status, 429)
        }
    }

    @Test func loginsWithTheRightPasswordUseNothingUp() async throws {
        let one = GatewayLimits.Rate(burst: 1, perMinute: 0)
        try await Self.with({
            ($0.address, $0.account, $0.app) = (one, one, one)
        }) { gateway in
            try await Self.register(gateway, "ann@b.c")
            for _ in 0..<4 {
                try await expectEqual(Self.login(gateway, "ann@b.c", "secret-1", from: Self.owner).status, 200)
            }
        }
    }

    @Test func aFloodOfNamesAndAddressesHoldsOffOnlyStrangers() async throws {
        try await Self.with({ $0.app = .init(burst: 2, perMinute: 0) }) { gateway in
            try await Self.register(gateway, "ann@b.c")
            try await expectEqual(Self.login(gateway, "ann@b.c", "secret-1", from: Self.owner).status, 200)
            for number in 1...2 {
                try await expectEqual(Self.login(gateway, "x\(number)@b.c", from: "198.51.100.\(number)").status, 401)
            }
            let refused = try await Self.login(gateway, "x3@b.c", from: "198.51.100.3")
            expectTrue(refused.status == 429 && refused.string("error")?.contains("to this app") == true)
            try await expectEqual(Self.login(gateway, "ann@b.c", "secret-1", from: Self.owner).status, 200)
        }
    }

    @Test func forwardedAddressesFromUntrustedClientsDoNotCount() async throws {
        try await GatewayHarness.with(configure: {
            $0.limits.failedLogins.address = .init(burst: 2, perMinute: 0)
        }) { gateway in
            for number in 1...2 {
                try await expectEqual(Self.login(gateway, "x\(number)@b.c", from: "198.51.100.\(number)").status, 401)
            }
            let refused = try await Self.login(gateway, "x3@b.c", from: "198.51.100.3")
            expectEqual(refused.status, 429)
        }
    }

    @Test func impossibleCredentialsAreRefusedWithoutCounting() async throws {
        try await Self.with({ $0.address = .init(burst: 1, perMinute: 0) }) { gateway in
            for (name, password) in [
                ("a@b.c", ""), ("", "secret-1"), ("a@b.c", String(repeating: "x", count: 129)),
                (String(repeating: "x", count: 321), "secret-1"), (#"a\u0001@b.c"#, "secret-1"),
            ] {
                let refused = try await Self.login(gateway, name, password, from: Self.owner)
                expectTrue(refused.status == 401 && refused.string("error_code") == "InvalidPassword")
            }
        }
    }

    /// Whatever stands behind a U+0000, a store that ends texts there finds the account; its limit counts by the name.
    @Test func noNameIsAnotherWayToAnAccount() async throws {
        try await Self.with({ $0.account = .init(burst: 1, perMinute: 0) }) { gateway in
            try await Self.register(gateway, "right@b.c")
            for suffix in ["x", "y"] {
                let refused = try await Self.login(gateway, #"right@b.c\u0000"# + suffix, "secret-1", from: Self.owner)
                expectTrue(refused.status == 401 && refused.string("error_code") == "InvalidPassword")
            }
            try await expectEqual(Self.login(gateway, "right@b.c", "secret-1", from: Self.owner).status, 200)
        }
    }

    @Test func aFloodOfLoginsLeavesThoseWhoAreLoggedInAlone() async throws {
        try await GatewayHarness.with(configure: {
            $0.limits.passwordThreads = 1
            $0.limits.passwordQueue = 4
        }) { gateway in
            let tokens = try await gateway.logInAnonymously()
            // A password that takes as long as the test wants.
            let goesOn = DispatchSemaphore(value: 0)
            defer { goesOn.signal() }
            gateway.service.hasher.pool.submit { _ in goesOn.wait() }
            try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
                for number in 0..<16 {
                    group.addTask { try await Self.login(gateway, "x\(number)@b.c", from: "198.51.100.\(number)") }
                }
                for _ in 0..<14 {
                    let refused = try #require(try await group.next())
                    expectEqual(refused.status, 503)
                    expectEqual(refused.string("error_code"), "TooManyLogins")
                    expectEqual(refused.string("error")?.contains("app tasks has 2 passwords waiting"), true)
                    expectTrue(Int(refused.headers["retry-after"] ?? "") ?? 0 >= 5)
                }
                let refresh = try await gateway.request(
                    "POST", "\(GatewayHarness.auth)/session", bearer: tokens.refresh)
                expectEqual(refresh.status, 200)
                goesOn.signal()
                while let checked = try await group.next() { expectEqual(checked.status, 401) }
            }
        }
    }

    @Test func theDefaultCostIsTodaysRecommendation() {
        expectEqual(PasswordParameters(), PasswordParameters(logN: 17, r: 8, p: 1))
    }
}
