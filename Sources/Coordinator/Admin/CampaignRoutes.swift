import AdminAPI
import Hummingbird
import Storage
import SyncModel

/// `campaigns`: list, show, their client realms, and a stream of their progress.
struct CampaignRoutes: Sendable {
    let store: any ControlStore
    let events: CampaignEvents

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get(.campaigns) { request, _ in
            let limit = try AdminRequest.limit(request, default: AdminLimits.campaigns)
            let found = try await store.campaigns(
                app: AdminRequest.query(.app, request), after: AdminRequest.query(.after, request), limit: limit)
            return try AdminResponse.json(
                CampaignList(
                    campaigns: found.map { CampaignDocument($0) },
                    next: found.count == limit ? found.last?.campaign.id : nil))
        }
        group.get(.campaign) { _, context in
            let id = try context.value(of: .campaign)
            guard let document = try await CampaignDocument.read(id, store) else {
                throw AdminError.notFound("campaign \(id)")
            }
            return try AdminResponse.json(document)
        }
        group.get(.clientRealms) { request, context in
            try await clientRealms(request, campaign: context.value(of: .campaign))
        }
        group.get(.campaignEvents) { _, context in
            try await events.response(campaign: context.value(of: .campaign))
        }
        group.get(.clientRealmHistory) { request, context in
            try await history(
                request, app: context.value(of: .app), clientFile: UInt64(context.value(of: .clientFile)))
        }
    }

    private func clientRealms(_ request: Request, campaign: String) async throws -> Response {
        let limit = try AdminRequest.limit(request)
        let outcome: OutcomeClass? = try AdminRequest.value(
            AdminRequest.query(.outcome, request), called: AdminQuery.outcome.rawValue)
        var after: ClientRealmCursor?
        if let text = AdminRequest.query(.after, request) {
            after = ClientRealmCursor(text: text)
            guard after != nil else { throw AdminError.invalid("after: expected the \"next\" of the page before") }
        }
        guard try await store.campaign(campaign) != nil else { throw AdminError.notFound("campaign \(campaign)") }
        let found = try await store.clientRealms(campaign: campaign, outcome: outcome, after: after, limit: limit)
        let next = found.count == limit ? found.last : nil
        return try AdminResponse.json(
            ClientRealmList(
                clientRealms: found.map(ClientRealmDocument.init),
                next: next.map { ClientRealmCursor(partition: $0.partition, clientFile: $0.clientFile).text }))
    }

    private func history(_ request: Request, app: String, clientFile: UInt64?) async throws -> Response {
        guard let clientFile = clientFile.map(FileIdent.init), clientFile.fitsTheWire else {
            throw AdminError.invalid("the client file ident must be a whole number")
        }
        guard let partition = AdminRequest.query(.partition, request) else {
            throw AdminError.invalid("the query must name the partition: ?partition=...")
        }
        let found = try await store.clientRealmHistory(
            app: app, partition: RealmName.partition(fromText: partition), clientFile: clientFile,
            limit: try AdminRequest.limit(request))
        return try AdminResponse.json(ClientRealmList(clientRealms: found.map(ClientRealmDocument.init)))
    }
}
