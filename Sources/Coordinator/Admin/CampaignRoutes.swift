import Hummingbird
import Storage
import SyncModel

/// `campaigns`: list, show, their client realms, and a stream of their progress.
struct CampaignRoutes: Sendable {
    let store: any ControlStore
    let events: CampaignEvents

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.get("campaigns") { request, _ in
            let limit = try AdminRequest.limit(request, default: 50)
            let found = try await store.campaigns(
                app: AdminRequest.query("app", request), after: AdminRequest.query("after", request), limit: limit)
            return try AdminResponse.json(
                CampaignPage(
                    campaigns: found.map { CampaignDocument(summary: $0) },
                    next: found.count == limit ? found.last?.campaign.id : nil))
        }
        group.get("campaigns/:campaign") { _, context in
            let id = try context.parameters.require("campaign")
            guard let document = try await CampaignDocument.read(id, store) else {
                throw AdminError.notFound("campaign \(id)")
            }
            return try AdminResponse.json(document)
        }
        group.get("campaigns/:campaign/client-realms") { request, context in
            try await clientRealms(request, campaign: context.parameters.require("campaign"))
        }
        group.get("campaigns/:campaign/events") { _, context in
            try await events.response(campaign: context.parameters.require("campaign"))
        }
        group.get("apps/:app/client-realms/:clientFile") { request, context in
            try await history(
                request, app: context.parameters.require("app"), clientFile: context.parameters.get("clientFile"))
        }
    }

    private func clientRealms(_ request: Request, campaign: String) async throws -> Response {
        let limit = try AdminRequest.limit(request)
        var outcome: OutcomeClass?
        if let text = AdminRequest.query("outcome", request) {
            outcome = OutcomeClass(rawValue: text)
            guard outcome != nil else {
                let names = OutcomeClass.allCases.map(\.rawValue).joined(separator: ", ")
                throw AdminError.invalid("outcome: expected one of \(names)")
            }
        }
        var after: ClientRealmCursor?
        if let text = AdminRequest.query("after", request) {
            after = ClientRealmCursor(text: text)
            guard after != nil else { throw AdminError.invalid("after: expected the \"next\" of the page before") }
        }
        guard try await store.campaign(campaign) != nil else { throw AdminError.notFound("campaign \(campaign)") }
        let found = try await store.clientRealms(campaign: campaign, outcome: outcome, after: after, limit: limit)
        let next = found.count == limit ? found.last : nil
        return try AdminResponse.json(
            ClientRealmPage(
                clientRealms: found.map(ClientRealmDocument.init),
                next: next.map { ClientRealmCursor(partition: $0.partition, clientFile: $0.clientFile).text }))
    }

    private func history(_ request: Request, app: String, clientFile: String?) async throws -> Response {
        guard let clientFile = clientFile.flatMap(UInt64.init).map(FileIdent.init), clientFile.fitsTheWire else {
            throw AdminError.invalid("the client file ident must be a whole number")
        }
        guard let partition = AdminRequest.query("partition", request) else {
            throw AdminError.invalid("the query must name the partition: ?partition=...")
        }
        let found = try await store.clientRealmHistory(
            app: app, partition: RealmName.partition(fromText: partition), clientFile: clientFile,
            limit: try AdminRequest.limit(request))
        return try AdminResponse.json(ClientRealmPage(clientRealms: found.map(ClientRealmDocument.init)))
    }
}

extension CampaignDocument {
    static func read(_ id: String, _ store: any ControlStore) async throws -> CampaignDocument? {
        guard let summary = try await store.campaign(id) else { return nil }
        return CampaignDocument(summary: summary, slices: try await store.campaignSlices(id))
    }
}
