import AdminAPI
import Hummingbird
import Storage
import SyncModel

/// `campaigns`: list, show, their client realms, and a stream of their progress.
struct CampaignRoutes: Sendable {
    let context: CoordinatorContext
    let events: CampaignEvents
    let export: CampaignExport

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.answer(.get, .campaigns) { request, _ in
            let limit = try AdminRequest.limit(request, default: AdminLimits.campaigns)
            let found = try await context.store.campaigns(
                CampaignFilter(
                    app: AdminRequest.query(.app, request), accounts: try AdminRequest.flag(.accounts, request),
                    isOpen: try AdminRequest.flag(.open, request), search: AdminRequest.query(.search, request)),
                after: AdminRequest.query(.after, request), limit: limit)
            return CampaignList(campaigns: found, next: found.count == limit ? found.last?.campaign.id : nil)
        }
        group.answer(.get, .campaign) { try await context.campaign($1.value(of: .campaign)) }
        group.answer(.get, .clientRealms) { try await clientRealms($0, campaign: $1.value(of: .campaign)) }
        group.on(.get, .clientRealmExport) { request, route in
            let format: CampaignExport.Format? = try AdminRequest.value(
                AdminRequest.query(.format, request), called: AdminQuery.format.rawValue)
            return try await export.response(
                campaign: route.value(of: .campaign), as: format ?? .csv, filter(request))
        }
        group.on(.get, .campaignEvents) { _, route in
            try await events.response(campaign: route.value(of: .campaign))
        }
        group.answer(.get, .clientRealmHistory) { request, route in
            try await history(
                request, app: route.value(of: .app), clientFile: UInt64(route.value(of: .clientFile)))
        }
    }

    private func clientRealms(_ request: Request, campaign: String) async throws -> ClientRealmList {
        let limit = try AdminRequest.limit(request)
        let filter = try filter(request)
        let after = try AdminRequest.after(request) { ClientRealmCursor(text: $0) }
        let found = try await context.store.clientRealms(
            campaign: campaign, filter, after: after, limit: limit)
        // To look at the campaign is to count all its client realms.
        if found.isEmpty { _ = try await context.campaign(campaign) }
        let next = found.count == limit ? found.last : nil
        return ClientRealmList(
            clientRealms: found,
            next: next.map { ClientRealmCursor(partition: $0.partition, clientFile: $0.clientFile).text })
    }

    private func filter(_ request: Request) throws -> ClientRealmFilter {
        ClientRealmFilter(
            outcome: try AdminRequest.value(
                AdminRequest.query(.outcome, request), called: AdminQuery.outcome.rawValue),
            partition: try RealmChoice(request).wantedPartition,
            user: AdminRequest.query(.user, request))
    }

    private func history(_ request: Request, app: String, clientFile: UInt64?) async throws -> ClientRealmList {
        guard let clientFile = clientFile.map(FileIdent.init), clientFile.fitsTheWire else {
            throw AdminError.invalid("the client file ident must be a whole number")
        }
        let realm = try RealmChoice(request).name(in: try await context.app(app))
        let found = try await context.store.clientRealmHistory(
            ClientRealmKey(realm: realm, clientFile: clientFile), limit: try AdminRequest.limit(request))
        return ClientRealmList(clientRealms: found)
    }
}
