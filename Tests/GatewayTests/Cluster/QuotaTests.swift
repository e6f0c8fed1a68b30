import Changesets
import Storage
import StorageSupport
import SyncModel
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// What apps and users may do at a gateway in a second.
@Suite(.timeLimit(.minutes(5))) struct QuotaTests {
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
            guard case .goOn = rates.judge(.upload, of: flood, in: nil) else { return #expect(Bool(false)) }
        }
        guard case .rest(let rest, .userUploads) = rates.judge(.upload, of: flood, in: nil) else {
            return #expect(Bool(false))
        }
        #expect(rest > .milliseconds(400) && rest < .milliseconds(600))
        // Two seconds' worth ahead, and no more.
        #expect(Self.taken(rates, .upload, of: flood) == 3)
        guard case .refuse(.userUploads, limit: 2, let seconds) = rates.judge(.upload, of: flood, in: nil) else {
            return #expect(Bool(false))
        }
        #expect(seconds == 3)
        guard case .goOn = rates.judge(.upload, of: calm, in: nil) else { return #expect(Bool(false)) }
        guard case .goOn = rates.judge(.bind, of: flood, in: nil) else { return #expect(Bool(false)) }
        // A clock that is put back gives nothing away and takes nothing; time gives it all back.
        now.withLock { $0 -= 500_000 }
        #expect(Self.taken(rates, .upload, of: flood) == 0)
        now.withLock { $0 += 30_000 }
        #expect(Self.taken(rates, .upload, of: flood) == 24)
    }

    @Test func anAppsUsersTogetherAreBoundAndOtherAppsGoOn() {
        let rates = Self.rates([.binds: 3, .userBinds: 2]) { 1 }
        #expect(Self.taken(rates, .bind, of: flood) == 24)
        // What is left of the app's.
        #expect(Self.taken(rates, .bind, of: calm) == 12)
        #expect(Self.taken(rates, .bind, of: AppUser(app: "other", user: "flood")) == 24)
        // An app's own value goes before.
        var app = AppRecord(id: "third", createdAt: 1)
        app.quotas[.userBinds] = 1
        #expect(Self.taken(rates, .bind, of: AppUser(app: "third", user: "u"), in: app) == 12)
    }

    @Test func usersThatCameOnceAreForgotten() {
        let rates = Self.rates([:]) { 1 }
        for user in 0..<(RateQuotas.maxKeys + 100) {
            _ = rates.judge(.bind, of: AppUser(app: "tasks", user: "\(user)"), in: nil)
        }
        #expect(rates.count <= RateQuotas.maxKeys + 2)
    }

    @Test(.needsBroker) func aClientBeyondItsQuotaIsToldWhichAndComesBack() async throws {
        try await GatewayHarness.with(
            broker: true, configure: { $0.limits.quotas = QuotaValues([.userSockets: 1, .userBinds: 1]) }
        ) { gateway in
            let tokens = try await gateway.logInAnonymously()
            try await SyncClient.with(port: gateway.port, token: tokens.access) { client in
                _ = try await SessionOpening.open(&client)
                let refusal = try await RawSocket.with(port: gateway.port) { stream in
                    try await stream.write(SyncClient.request(token: tokens.access))
                    return String(decoding: try await stream.readToEnd(), as: UTF8.self)
                }
                #expect(refusal.hasPrefix("HTTP/1.1 503"))
                #expect(refusal.contains("may have 1 sockets at one gateway"))
                #expect(refusal.contains("Retry-After: "))
                let other = try await gateway.logInAnonymously()
                try await SyncClient.with(port: gateway.port, token: other.access) { client in
                    _ = try await SessionOpening.open(&client, partition: "\"other\"")
                }
                // Twelve seconds' worth, of which one is used.
                for session in 2...13 {
                    let bind = Bind(session: SessionIdent(UInt64(session)), target: "\"p\(session)\"", needsIdent: true)
                    try await client.send(.bind(bind))
                }
                var refusals: [(SessionIdent, JSONErrorBody)] = []
                var begun = 0
                while begun + refusals.count < 12 {
                    switch try await client.nextMessage() {
                    case .ident: begun += 1
                    case .jsonError(let session, .initialSyncNotCompleted, let body): refusals.append((session, body))
                    case .jsonError(_, let code, let body): Issue.record("\(code.rawValue): \(body.message)")
                    default: break
                    }
                }
                let (session, body) = try #require(refusals.first)
                #expect(session == 13 && refusals.count == 1)
                #expect(body.action == .transient && body.tryAgain)
                #expect(body.message.contains("may have 1 sessions begun a second at one gateway"))
                #expect(body.message.contains("quota userBinds"))
            }
        }
    }
}
