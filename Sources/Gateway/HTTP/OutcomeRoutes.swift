import Foundation
import HTTPTypes
import Hummingbird
import SyncModel

/// Where clients of our own SDK tell how a client reset ended:
/// `POST /api/client/v2.0/app/{app}/sync/reset-outcomes`, an access token, one report or an array of them.
struct OutcomeRoutes: Sendable {
    let accounts: AccountService
    let link: ClusterLink
    let limiter: RateLimiter
    let maxBodyBytes: Int
    let clock: GatewayClock

    private static let maxReports = 100
    private static let maxText = 2_000
    /// The largest time or count: any JSON number is exact up to here.
    private static let maxInteger = (1 << 53) - 1

    func add(to router: Router<GatewayRequestContext>) {
        router.post("\(RouterPath("\(AccountRoutes.root)/app/:app/sync/reset-outcomes"))", use: receive)
    }

    /// The report as a client sends it: `OutcomeReport` without what only the cluster knows.
    private struct Report: Decodable {
        struct Realm: Decodable {
            var app: String?
            /// Nil of a realm in flexible mode.
            var partition: String?
            var flexible: Bool?

            func name(of app: String) -> RealmName? {
                if flexible == true { return RealmName(flexible: app) }
                return partition.map { RealmName(app: app, partition: RealmName.partition(fromText: $0)) }
            }
        }

        var attempt: String
        var realm: Realm
        var identOld: FileIdent
        var identNew: FileIdent?
        var modeRequested: String?
        var modeUsed: String?
        var result: OutcomeReport.Result
        var changesets: OutcomeReport.Changesets?
        var backupFile: String?
        var error: OutcomeReport.Failure?
        var at: UInt64?
    }

    private func receive(_ request: Request, _ context: GatewayRequestContext) async throws -> Response {
        let app = try context.parameters.require("app")
        let (claims, _) = try await accounts.authenticate(request.bearer)
        guard claims.aud == app else { throw APIError.anotherApp }
        try limiter.take(claims.sub, orRefuse: "too many reports of this user")
        let body = Data(try await request.limitedBody(maxBodyBytes).readableBytesView)
        for report in try Self.decode(body) {
            guard (1...200).contains(report.attempt.utf8.count), report.realm.app.map({ $0 == app }) ?? true else {
                throw APIError.badRequest("expected an attempt id, and the realm of this app")
            }
            let integers = 0...Self.maxInteger
            if let counts = report.changesets,
                ![counts.unsynced, counts.recovered, counts.emptied, counts.discarded].allSatisfy(integers.contains)
            {
                throw APIError.badRequest("changesets: expected counts from 0 to 2^53 - 1")
            }
            guard report.at ?? 0 <= UInt64(Self.maxInteger) else {
                throw APIError.badRequest("at: expected milliseconds of Unix time up to 2^53 - 1")
            }
            guard report.identOld.fitsTheWire, report.identNew?.fitsTheWire ?? true else {
                throw APIError.badRequest("identOld, identNew: expected client file idents up to 2^63 - 1")
            }
            guard let realm = report.realm.name(of: app) else {
                throw APIError.badRequest("realm: expected a partition, or flexible")
            }
            let outcome = outcome(report, of: realm, user: claims.sub)
            // The id makes a repetition harmless along the whole way.
            try await link.reportConfirmed(outcome, id: "\(claims.sub)-\(outcome.attempt)-\(outcome.result.rawValue)")
        }
        return Response(status: .noContent)
    }

    private static func decode(_ body: Data) throws -> [Report] {
        let decoder = JSONDecoder()
        let reports: [Report]
        do {
            reports =
                body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
                ? try decoder.decode([Report].self, from: body) : [try decoder.decode(Report.self, from: body)]
        } catch {
            throw APIError.badRequest("expected a reset outcome, or an array of them")
        }
        guard reports.count <= maxReports else { throw APIError.badRequest("at most \(maxReports) reports at once") }
        return reports
    }

    private func outcome(_ report: Report, of realm: RealmName, user: String) -> OutcomeReport {
        func short(_ text: String?) -> String? { text.map { String($0.prefix(Self.maxText)) } }
        return OutcomeReport(
            campaign: nil, attempt: report.attempt,
            realm: realm, user: user,
            identOld: report.identOld, identNew: report.identNew, modeRequested: short(report.modeRequested),
            modeUsed: short(report.modeUsed), result: report.result, changesets: report.changesets,
            // The name only: a path would tell about the user's machine.
            backupFile: short(report.backupFile?.split(separator: "/").last.map(String.init)),
            error: report.error.map { .init(name: short($0.name) ?? "", message: short($0.message) ?? "") },
            evidence: .client, confidence: 1, at: report.at ?? clock.unixMilliseconds())
    }
}
