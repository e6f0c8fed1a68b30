import AdminAPI
import Hummingbird
import Logging
import Messages
import Storage
import SyncModel

/// `apps/{app}/sync`: terminate, enable, pause, reset.
struct SyncRoutes: Sendable {
    let context: CoordinatorContext
    private var campaigns: CampaignRequests { CampaignRequests(context: context) }

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.post, .terminate) { try await terminate($0, app: $1.value(of: .app)) }
        group.on(.post, .reset) { try await reset($0, app: $1.value(of: .app)) }
        group.answer(.post, .allowResets) { try await allowResets($0, app: $1.value(of: .app)) }
        group.answer(.post, .enable) { request, route in
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            let app = try await context.store.updateApp(route.value(of: .app)) { $0.syncState = .enabled }
            await context.notices.send(app.id)
            return AppDocument(app)
        }
        group.answer(.post, .pause) { request, route in
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            let app = try await context.store.updateApp(route.value(of: .app)) {
                if $0.syncState == .enabled { $0.syncState = .paused }
            }
            guard app.syncState == .paused else {
                throw AdminError.conflict("terminated", "sync of app \(app.id) is terminated: enable it first")
            }
            await context.notices.send(app.id)
            return AppDocument(app)
        }
    }

    private func terminate(_ request: Request, app: String) async throws -> Response {
        let body = try await AdminRequest.body(TerminationRequest.self, of: request)
        let campaign = try campaigns.request(app: app, campaign: body.campaign, reason: body.reason)
        let recorded = try await context.store.terminate(
            campaign, enable: body.enable ?? true, slices: context.slices.value)
        context.logger.notice(
            "sync terminated",
            metadata: [
                "app": "\(app)", "campaign": "\(campaign.id)", "generation": "\(recorded.app.generation)",
                "sync_state": "\(recorded.app.syncState.rawValue)",
            ])
        await context.notices.send(app)
        return try await campaigns.answer(recorded.campaign)
    }

    private func reset(_ request: Request, app: String) async throws -> Response {
        let body = try await AdminRequest.body(ResetRequest.self, of: request)
        if let file = body.clientFile, file <= .server || !file.fitsTheWire {
            throw AdminError.invalid("clientFile: expected a client file ident, from 2 on")
        }
        let campaign = try campaigns.request(app: app, campaign: body.campaign, reason: body.reason)
        let realm = try RealmChoice(partition: body.partition, flexible: body.flexible).name(
            in: try await context.app(app))
        try await campaigns.requireRealm(realm)
        return try await campaigns.answer(
            try await context.store.startReset(campaign, partition: realm.partition, clientFile: body.clientFile))
    }

    private func allowResets(_ request: Request, app id: String) async throws -> AllowedResetsDocument {
        let body = try await AdminRequest.body(AllowResetsRequest.self, of: request)
        let app = try await context.app(id)
        let seconds = body.seconds ?? 3_600
        guard (1...AllowResetsMessage.longest).contains(seconds) else {
            throw AdminError.invalid("seconds: expected 1 to \(AllowResetsMessage.longest), found \(seconds)")
        }
        if let slice = body.slice, !(0..<context.slices.value).contains(slice.value) {
            throw AdminError.invalid("slice: expected 0 to \(context.slices.value - 1), found \(slice)")
        }
        let slices = body.slice.map { [$0] } ?? context.slices.all
        for slice in slices {
            try await context.link.publish(AllowResetsMessage(app: app.id, seconds: seconds), to: slice)
        }
        context.logger.notice(
            "resets allowed", metadata: ["app": "\(app.id)", "slices": "\(slices.count)", "seconds": "\(seconds)"])
        return AllowedResetsDocument(app: app.id, slices: slices, seconds: seconds)
    }
}
