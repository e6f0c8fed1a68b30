import Changesets
import Operations
import Storage
import StorageSupport
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// What apps and users may do at a gateway in a second.
@Suite(.hangGuard) struct QuotaTests {
    private let flood = AppUser(app: "tasks", user: "flood")
    private let calm = AppUser(app: "tasks", user: "calm")

    private static func rates(_ quotas: [Quota: Int], _ now: @escaping @Sendable () -> UInt64) -> RateQuotas {
        RateQuotas(settings: QuotaValues(quotas), clock: GatewayClock(unixMilliseconds: now))
    }

    /// How many of 1,000 are taken at once.
    private static func taken(_ rates: RateQuotas, _ act: RateQuotas.Act, of user: AppUser, in app: AppRecord? = nil)
        -> Int
    {
        (0..<1_000).count { _ in
            if case .refuse = rates.judge(act, of: user, in: app) { false } else { true }
        }
    }

    @Test func aUserBeyondItsRateRestsThenIsRefusedAndOthersGoOn() throws {
        let now = Mutex<UInt64>(1_000_000)
        let rates = Self.rates([.userUploads: 2, .uploads: 100]) { now.withLock { $0 } }
        for _ in 0..<20 {
            guard case .goOn = rates.judge(.upload, of: flood, in: nil) else { return expectTrue(Bool(false)) }
        }
        guard case .rest(let rest, .userUploads) = rates.judge(.upload, of: flood, in: nil) else {
            return expectTrue(Bool(false))
        }
        expectTrue(rest > .milliseconds(400) && rest < .milliseconds(600))
        // Two seconds' worth ahead, and no more.
        expectEqual(Self.taken(rates, .upload, of: flood), 3)
        guard case .refuse(.userUploads, limit: 2, let seconds) = rates.judge(.upload, of: flood, in: nil) else {
            return expectTrue(Bool(false))
        }
        expectEqual(seconds, 3)
        guard case .goOn = rates.judge(.upload, of: calm, in: nil) else { return expectTrue(Bool(false)) }
        guard case .goOn = rates.judge(.bind, of: flood, in: nil) else { return expectTrue(Bool(false)) }
        // A clock that is put back gives nothing away and takes nothing; time gives it all back.
        now.withLock { $0 -= 500_000 }
        expectEqual(Self.taken(rates, .upload, of: flood), 0)
        now.withLock { $0 += 30_000 }
        expectEqual(Self.taken(rates, .upload, of: flood), 24)
    }

    @Test func socketsAreCountedAsTheyAreOpened() {
        let rates = Self.rates([.userConnects: 2, .connects: 100]) { 1 }
        expectEqual(Self.taken(rates, .connect, of: flood), 24)
        guard case .refuse(.userConnects, limit: 2, _) = rates.judge(.connect, of: flood, in: nil) else {
            return expectTrue(Bool(false))
        }
        guard case .goOn = rates.judge(.connect, of: calm, in: nil) else { return expectTrue(Bool(false)) }
        guard case .goOn = rates.judge(.bind, of: flood, in: nil) else { return expectTrue(Bool(false)) }
    }

    @Test func anAppsUsersTogetherAreBoundAndOtherAppsGoOn() {
        let rates = Self.rates([.binds: 3, .userBinds: 2]) { 1 }
        expectEqual(Self.taken(rates, .bind, of: flood), 24)
        // What is left of the app's.
        expectEqual(Self.taken(rates, .bind, of: calm), 12)
        expectEqual(Self.taken(rates, .bind, of: AppUser(app: "other", user: "flood")), 24)
        // An app's own value goes before.
        var app = AppRecord(id: "third", createdAt: 1)
        app.quotas[.userBinds] = 1
        expectEqual(Self.taken(rates, .bind, of: AppUser(app: "third", user: "u"), in: app), 12)
    }

    /// Whatever its messages say, and however few bytes they have.
    @Test func aSocketThatSendsWithoutPauseIsReadLater() {
        let start = ContinuousClock.now
        var pace = MessagePace(at: start)
        let rests = (0..<6_000).compactMap { _ in pace.take(at: start) }
        expectTrue(
            rests.count > 900 && rests.last.map { $0 > .milliseconds(1_900) && $0 < .milliseconds(2_100) } == true)
        var patient = MessagePace(at: start)
        expectTrue((0..<20_000).allSatisfy { patient.take(at: start + .milliseconds(4 * $0)) == nil })
    }

    @Test func answersToManyFailedRequestsWait() async throws {
        // Longer than this suite may take: what returns has not waited.
        let brake = FailureBrake(
            delay: .seconds(3_600), clock: GatewayClock(unixMilliseconds: { 1_000 }), metrics: GatewayMetrics())
        let stranger = ClientAddress(IPAddress("192.0.2.1"))
        func waits(from address: ClientAddress, app: String?) async throws {
            let before = brake.waitingAnswers
            let answer = Task { await brake.failed(from: address, app: app) }
            try await eventually("the answer waits") { brake.waitingAnswers == before + 1 }
            answer.cancel()
            await answer.value
        }
        for _ in 0..<20 { await brake.failed(from: stranger, app: nil) }
        for _ in 0..<2 { try await waits(from: stranger, app: nil) }
        // Others go on, until all of an app's clients together have had many.
        await brake.failed(from: ClientAddress(IPAddress("192.0.2.2")), app: "tasks")
        for number in 0..<499 {
            let address = ClientAddress(IPAddress("198.51.\(number / 250).\(number % 250 + 1)"))
            await brake.failed(from: address, app: "tasks")
        }
        let fresh = ClientAddress(IPAddress("203.0.113.1"))
        try await waits(from: fresh, app: "tasks")
        await brake.failed(from: fresh, app: "other")
    }

    @Test func usersThatCameOnceAreForgotten() {
        let rates = Self.rates([:]) { 1 }
        for user in 0..<(RateQuotas.maxKeys + 100) {
            _ = rates.judge(.bind, of: AppUser(app: "tasks", user: "\(user)"), in: nil)
        }
        expectTrue(rates.count <= RateQuotas.maxKeys + 2)
    }

    @Test(.needsBroker) func aSocketBeyondItsUsersQuotaIsRefused() async throws {
        try await GatewayHarness.with(
            broker: true, configure: { $0.limits.quotas = QuotaValues([.userSockets: 1]) }
        ) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                let refusal = try await Self.refusal(of: tokens.access, at: gateway.port)
                expectTrue(refusal.hasPrefix("HTTP/1.1 503"))
                expectTrue(refusal.contains("may have 1 sockets at one gateway"))
                expectTrue(refusal.contains("Retry-After: "))
                let other = try await gateway.logInAnonymously()
                try await SyncClient.with(port: gateway.port, token: other.access) { client in
                    _ = try await SessionOpening.open(&client, partition: "\"other\"")
                }
            }
        }
    }

    private static func refusal(of token: String, at port: Int) async throws -> String {
        try await RawSocket.with(port: port) { stream in
            try await stream.write(SyncClient.request(token: token))
            return String(decoding: try await stream.readToEnd(), as: UTF8.self)
        }
    }

    @Test(.needsBroker) func sessionsBegunTooFastWaitOrAreRefused() async throws {
        try await GatewayHarness.with(
            broker: true, configure: { $0.limits.quotas = QuotaValues([.userBinds: 1]) }
        ) { gateway in
            let tokens = try await gateway.logInAnonymously()
            let port = gateway.port
            let ends = try await withThrowingTaskGroup(of: (begun: Int, refused: [JSONErrorBody]).self) { group in
                for number in 0..<4 {
                    group.addTask {
                        try await SyncClient.with(port: port, token: tokens.access) { client in
                            func bind(_ session: Int) async throws {
                                let target = "\"p\(number)-\(session)\""
                                try await client.send(
                                    .bind(
                                        Bind(
                                            session: SessionIdent(UInt64(session)), target: target, needsIdent: true)))
                            }
                            for session in 2...7 { try await bind(session) }
                            var last = 7
                            var refused: [JSONErrorBody] = []
                            var begun = 0
                            while begun + refused.count < 6 {
                                switch try await client.nextMessage() {
                                case .ident: begun += 1
                                case .jsonError(_, .initialSyncNotCompleted, let body): refused.append(body)
                                // A busy machine's owner did not answer in time: the session is begun, and tried again.
                                case .jsonError(_, .otherSessionError, _):
                                    last += 1
                                    try await bind(last)
                                case .jsonError(_, let code, let body):
                                    Issue.record("\(code.rawValue): \(body.message)")
                                default: break
                                }
                            }
                            return (begun, refused)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let refused = ends.flatMap(\.refused)
            expectTrue(ends.reduce(0) { $0 + $1.begun } >= 10 && !refused.isEmpty)
            expectTrue(refused.allSatisfy { $0.action == .transient && $0.tryAgain })
            expectEqual(refused.first?.message.contains("may have 1 sessions begun a second at one gateway"), true)
            expectEqual(refused.first?.message.contains("quota userBinds"), true)
        }
    }
}
