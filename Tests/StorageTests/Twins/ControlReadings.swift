import Storage
import SyncModel

extension ControlStore {
    /// Returns all that is kept of apps, rules, accounts, admin tokens and campaigns.
    ///
    /// - Parameters:
    ///   - turn: which app's accounts and rules are read, and which campaigns' client realms: a quarter of them at a
    ///     time.
    ///   - limit: of pages that are read beside everything.
    func readings(turn: Int, limit: Int) async throws -> [Reading] {
        var readings = [
            Reading("apps", try await apps()), Reading("admin tokens", try await adminTokens()),
            Reading("token by digest", try await adminToken(digest: "digest of ci")),
            // The numbers are the engine's own, and only grow.
            Reading(
                "audit",
                try await auditEntries(before: nil, limit: 99).map { entry in
                    var entry = entry
                    entry.number = 0
                    return entry
                }),
            Reading("unpublished campaigns", try await unpublishedCampaigns()),
            Reading("newest campaigns", try await newestCampaigns()),
        ]
        readings += try await accounts(of: ControlStepMaker.apps[turn % 4], limit: limit)
        for id in 1...10 { readings.append(Reading("login \(id)", try await loginSession("s\(id)"))) }
        return try await readings + campaigns(turn: turn, limit: limit)
    }

    private func accounts(of app: String, limit: Int) async throws -> [Reading] {
        var readings = [
            Reading("app \(app)", try await self.app(app)),
            Reading("users of \(app)", try await users(app: app, after: nil, limit: 99)),
            Reading("page of users of \(app)", try await users(app: app, after: "a1", limit: limit)),
            Reading("number of users of \(app)", try await userCount(app: app)),
            Reading("history of rules of \(app)", try await rulesHistory(app: app, after: nil, limit: 999)),
            Reading("page of history of rules of \(app)", try await rulesHistory(app: app, after: 4, limit: limit)),
            Reading("rules of \(app)", try await rules(app: app, version: UInt64(limit))),
        ]
        for version in [0, 2, 5] as [UInt64] {
            readings.append(
                Reading("changes of users of \(app) since \(version)", try await userChanges(app: app, after: version)))
        }
        for email in ControlStepMaker.emails {
            readings.append(Reading("\(email) in \(app)", try await password(app: app, email: email)))
        }
        for user in ControlStepMaker.users {
            readings.append(
                Reading("logins of \(user)", try await hasLoginSession(app: app, user: user, origin: "o")))
        }
        return readings
    }

    private func campaigns(turn: Int, limit: Int) async throws -> [Reading] {
        var readings: [Reading] = []
        for filter in [
            CampaignFilter(), CampaignFilter(accounts: true),
            CampaignFilter(app: ControlStepMaker.apps[0], isOpen: true), CampaignFilter(search: "1"),
            CampaignFilter(search: "%_\\"),
        ] {
            readings += [
                Reading("campaigns of \(filter)", try await campaigns(filter, after: nil, limit: 99)),
                Reading("page of campaigns of \(filter)", try await campaigns(filter, after: nil, limit: limit)),
            ]
        }
        for id in [ControlStepMaker.campaigns[turn % 4], ControlStepMaker.campaigns[4 + turn % 4]] {
            readings += [
                Reading("campaign \(id)", try await campaign(id)),
                Reading(
                    "client realms of \(id)",
                    try await clientRealms(campaign: id, outcome: nil, after: nil, limit: 99)),
                Reading(
                    "page of client realms of \(id)",
                    try await clientRealms(
                        campaign: id, ClientRealmFilter(outcome: limit == 1 ? .pending : nil, user: "a1"),
                        after: ClientRealmCursor(partition: "\"p\"", clientFile: 2), limit: limit)),
            ]
        }
        for partition in ControlStepMaker.partitions {
            let key = ClientRealmKey(
                realm: RealmName(app: ControlStepMaker.apps[0], partition: partition), clientFile: 2)
            readings.append(Reading("history of \(key)", try await clientRealmHistory(key, limit: limit)))
        }
        return readings
    }
}
