import AdminAPI
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct DashboardSessionTests {
    private let sealer = SessionSealer(key: AdminToken(CoordinatorHarness.token).sessionKey, isSecure: false)

    @Test func aSealedSessionIsOpenedByCoordinatorsWithTheSameTokenOnly() throws {
        let session = DashboardSession(digest: "d", now: 1_000)
        let cookie = try sealer.seal(session)
        expectEqual(sealer.open(cookie, at: 1_000), session)
        expectEqual(
            SessionSealer(key: AdminToken(CoordinatorHarness.token).sessionKey, isSecure: true).open(cookie, at: 1_000),
            session)
        let other = SessionSealer(key: AdminToken("another-token-of-32-bytes-or-more!").sessionKey, isSecure: false)
        expectTrue(other.open(cookie, at: 1_000) == nil)
        expectTrue(other.cookieName != sealer.cookieName)
        for place in stride(from: 0, to: cookie.count, by: 7) {
            var damaged = Array(cookie)
            damaged[place] = damaged[place] == "A" ? "B" : "A"
            expectTrue(sealer.open(String(damaged), at: 1_000) == nil, "changed at \(place)")
        }
        expectTrue(
            sealer.open("", at: 1_000) == nil && sealer.open(String(repeating: "A", count: 5_000), at: 1_000) == nil)
    }

    @Test func aSessionEndsAfterItsTime() throws {
        let cookie = try sealer.seal(DashboardSession(digest: "d", now: 1_000))
        expectTrue(sealer.open(cookie, at: 1_000 + DashboardSession.lifetime - 1) != nil)
        expectTrue(sealer.open(cookie, at: 1_000 + DashboardSession.lifetime) == nil)
    }

    @Test func endedSessionsAreBounded() {
        let ended = EndedSessions()
        let names = (0..<EndedSessions.most + 5).map { "\($0)".leftPadded(to: 32) }
        for (number, name) in names.enumerated() { ended.end(name, expiresAt: 1_000 + UInt64(number), now: 1) }
        expectTrue(!ended.isEnded(names[0]) && !ended.isEnded(names[4]))
        expectTrue(ended.isEnded(names[5]) && names.last.map(ended.isEnded) == true)
        ended.end("too short", expiresAt: 2_000, now: 1)
        expectTrue(!ended.isEnded("too short"))
    }

    @Test func aLinkLogsInOnceAndNotForEver() throws {
        let links = LoginLinks()
        func code(_ path: String) throws -> String { String(try #require(path.split(separator: "/").last)) }
        let first = try code(links.make(for: "d", at: 1_000).path)
        expectEqual(links.take(first, at: 2_000), "d")
        expectTrue(links.take(first, at: 2_000) == nil)
        let late = try code(links.make(for: "d", at: 1_000).path)
        expectTrue(links.take(late, at: 1_000 + LoginLinks.lifetime) == nil)
        let oldest = try code(links.make(for: "d", at: 3_000).path)
        for number in 0..<LoginLinks.most { _ = links.make(for: "d", at: 3_001 + UInt64(number)) }
        expectTrue(links.take(oldest, at: 4_000) == nil)
    }

    @Test func wrongTokensAreSlowedDownForAMinute() {
        let brake = LoginBrake()
        expectTrue((0..<LoginBrake.wrongPerMinute).allSatisfy { _ in !brake.wrong(at: 5) })
        expectTrue(brake.wrong(at: 59_000))
        expectTrue(!brake.wrong(at: 60_006))
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String {
        String(repeating: "0", count: max(0, count - self.count)) + self
    }
}

/// The dashboard's way in, at coordinators that run.
@Suite(.needsBroker, .hangGuard) struct DashboardAccessTests {
    private struct Answer {
        var status: Int
        var headers: [String: String]
        var text: String
    }

    private func send(
        _ coordinator: RunningCoordinator, _ method: String, _ path: String, body: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(coordinator.port)\(path)")
        request.method = .RAW(value: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(1))
        let buffer = try await response.body.collect(upTo: 1 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: Dictionary(
                response.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { a, _ in a }),
            text: String(buffer: buffer))
    }

    private let page = ("X-Sluice-Dashboard", "1")
    private let session = "/api/admin/v1/session"

    @Test func thePagesNeedNoTokenAndTrustNobodyElse() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let page = try await send(coordinator, "GET", "/")
                expectTrue(page.status == 200 && page.text.contains("<title>Sluice</title>"))
                let policy = try #require(page.headers["content-security-policy"])
                expectTrue(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
                expectTrue(
                    page.headers["x-content-type-options"] == "nosniff" && page.headers["x-frame-options"] == "DENY")
                let tag = try #require(page.headers["etag"])
                try await expectEqual(send(coordinator, "GET", "/", headers: [("If-None-Match", tag)]).status, 304)
                try await expectEqual(
                    send(coordinator, "HEAD", "/dashboard/app.js").headers["content-type"],
                    "text/javascript; charset=utf-8")
                // Whatever the pages name is there, and nothing of it is elsewhere.
                for match in page.text.matches(of: /(?:src|href)="([^"#]+)"/) {
                    let path = String(match.1)
                    expectTrue(path.hasPrefix("/") && !path.hasPrefix("//"))
                    try await expectEqual(send(coordinator, "GET", path).status, 200, "\(path)")
                }
                try await expectEqual(send(coordinator, "GET", "/dashboard/nothing.js").status, 401)
                try await expectEqual(send(coordinator, "GET", "/dashboard/../api/admin/v1/apps").status, 401)
            }
        }
    }

    @Test func aCookieStandsForTheTokenUntilTheLogOut() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator("c1") { first in
                try await harness.withCoordinator("c2") { second in
                    for coordinator in [first, second] { try await eventually { coordinator.isServing } }
                    let body = #"{"token": "\#(CoordinatorHarness.token)"}"#
                    try await expectEqual(send(first, "POST", session, body: body).status, 403)
                    let foreign = try await send(
                        first, "POST", session, body: body, headers: [page, ("Origin", "http://elsewhere.example")])
                    expectEqual(foreign.status, 403)
                    let answer = try await send(first, "POST", session, body: body, headers: [page])
                    expectEqual(answer.status, 201)
                    let set = try #require(answer.headers["set-cookie"])
                    expectTrue(
                        set.contains("HttpOnly") && set.contains("SameSite=Strict")
                            && !set.contains(CoordinatorHarness.token))
                    let cookie = ("Cookie", "other=1; \(set.prefix { $0 != ";" })")
                    // The other coordinator never saw the log-in.
                    for coordinator in [first, second] {
                        let who = try await send(coordinator, "GET", session, headers: [cookie])
                        expectTrue(who.status == 200 && who.text.contains(#""token":"bootstrap""#))
                    }
                    let app = (path: "/api/admin/v1/apps", body: #"{"id": "tasks"}"#)
                    try await expectEqual(send(first, "POST", app.path, body: app.body, headers: [cookie]).status, 403)
                    try await expectEqual(
                        send(first, "POST", app.path, body: app.body, headers: [cookie, page]).status, 201)
                    try await expectEqual(send(first, "DELETE", session, headers: [cookie]).status, 403)
                    let end = try await send(first, "DELETE", session, headers: [cookie, page])
                    expectTrue(end.status == 204 && end.headers["set-cookie"]?.contains("Max-Age=0") == true)
                    try await expectEqual(send(first, "GET", session, headers: [cookie]).status, 401)
                    try await eventually("the other coordinator hears of the log-out") {
                        try await send(second, "GET", session, headers: [cookie]).status == 401
                    }
                }
            }
        }
    }

    @Test func aRevokedTokenEndsItsSessionsAndRolesCount() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let made = try await coordinator.request("POST", "tokens", #"{"name": "ann", "role": "read"}"#)
                let token = try #require(made["token"])
                let answer = try await send(
                    coordinator, "POST", session, body: #"{"token": "\#(token)"}"#, headers: [page])
                expectTrue(answer.text.contains(#""role":"read""#))
                let cookie = ("Cookie", String(try #require(answer.headers["set-cookie"]).prefix { $0 != ";" }))
                let made2 = try await send(
                    coordinator, "POST", "/api/admin/v1/apps", body: #"{"id": "tasks"}"#, headers: [cookie, page])
                expectEqual(made2.status, 403)
                try await expectEqual(coordinator.request("DELETE", "tokens/ann").status, 204)
                try await expectEqual(send(coordinator, "GET", session, headers: [cookie]).status, 401)
            }
        }
    }

    @Test func linksLogInOnceAndWrongTokensAreRefused() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                let link = try #require(try await coordinator.request("POST", "session/link")["path"])
                let code = try #require(link.split(separator: "/").last)
                let body = #"{"code": "\#(code)"}"#
                try await expectEqual(send(coordinator, "POST", session, body: body, headers: [page]).status, 201)
                try await expectEqual(send(coordinator, "POST", session, body: body, headers: [page]).status, 401)
                // Wrong tokens of one minute count, and the machine may be slow.
                try await eventually("a wrong token is one too many") {
                    try await send(
                        coordinator, "POST", session, body: #"{"token": "wrong"}"#, headers: [page]
                    ).status == 429
                }
                // Nobody is locked out by that.
                let right = #"{"token": "\#(CoordinatorHarness.token)"}"#
                try await expectEqual(send(coordinator, "POST", session, body: right, headers: [page]).status, 201)
                try await expectTrue(
                    coordinator.request("GET", "audit").text.contains(#""path":"/api/admin/v1/session""#))
            }
        }
    }
}
