import AdminAPI
import Foundation
import Hummingbird
import Logging
import Messages
import Storage
import SyncModel

/// `apps/{app}/sync`: terminate, enable, pause, reset.
struct SyncRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<BasicRequestContext>) {
        group.on(.post, .terminate) { try await terminate($0, app: $1.value(of: .app)) }
        group.on(.post, .reset) { try await reset($0, app: $1.value(of: .app)) }
        group.on(.post, .allowResets) { try await allowResets($0, app: $1.value(of: .app)) }
        group.on(.post, .enable) { request, route in
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            let app = try await context.store.updateApp(route.value(of: .app)) { $0.syncState = .enabled }
            await context.notices.send(app.id)
            return try AdminResponse.json(AppDocument(app))
        }
        group.on(.post, .pause) { request, route in
            _ = try await AdminRequest.body(EmptyRequest.self, of: request)
            let app = try await context.store.updateApp(route.value(of: .app)) {
                if $0.syncState == .enabled { $0.syncState = .paused }
            }
            guard app.syncState == .paused else {
                throw AdminError.conflict("terminated", "sync of app \(app.id) is terminated: enable it first")
            }
            await context.notices.send(app.id)
            return try AdminResponse.json(AppDocument(app))
        }
    }

    private func terminate(_ request: Request, app: String) async throws -> Response {
        let body = try await AdminRequest.body(TerminationRequest.self, of: request)
        let campaign = try self.request(app: app, campaign: body.campaign, reason: body.reason)
        let recorded = try await context.store.terminate(
            campaign, enable: body.enable ?? true, slices: context.slices.value)
        context.logger.notice(
            "sync terminated",
            metadata: [
                "app": "\(app)", "campaign": "\(campaign.id)", "generation": "\(recorded.app.generation)",
                "sync_state": "\(recorded.app.syncState.rawValue)",
            ])
        await context.notices.send(app)
        return try await answer(recorded.campaign)
    }

    private func reset(_ request: Request, app: String) async throws -> Response {
        let body = try await AdminRequest.body(ResetRequest.self, of: request)
        if let file = body.clientFile, file <= .server || !file.fitsTheWire {
            throw AdminError.invalid("clientFile: expected a client file ident, from 2 on")
        }
        let campaign = try self.request(app: app, campaign: body.campaign, reason: body.reason)
        let partition = RealmName.partition(fromText: body.partition)
        try await requireRealm(RealmName(app: app, partition: partition))
        return try await answer(
            try await context.store.startReset(campaign, partition: partition, clientFile: body.clientFile))
    }

    /// A reset of a realm that nobody has ever opened is a mistake in its name. Where the slices' stores cannot be read from
    /// here, it passes.
    private func requireRealm(_ name: RealmName) async throws {
        guard let stores = context.configuration.stores, try await context.store.app(name.app) != nil else { return }
        let slice = name.slice(of: context.slices)
        guard let slices = try? stores.slices() else { return }
        let realm: RealmRecord?
        do throws(StoreError) {
            realm = slices.contains(slice) ? try await stores.reader(for: slice).realm(name) : nil
        } catch {
            context.logger.debug("whether a realm exists is not known", metadata: ["error": "\(error)"])
            return
        }
        guard realm != nil else { throw AdminError.notFound("realm \(name.partition) of app \(name.app)") }
    }

    private func allowResets(_ request: Request, app id: String) async throws -> Response {
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
            try await context.link.publish(
                AllowResetsMessage(app: app.id, seconds: seconds), exchange: context.topology.slices,
                routingKey: String(slice.value), mandatory: true)
        }
        context.logger.notice(
            "resets allowed", metadata: ["app": "\(app.id)", "slices": "\(slices.count)", "seconds": "\(seconds)"])
        return try AdminResponse.json(AllowedResetsDocument(app: app.id, slices: slices, seconds: seconds))
    }

    private func request(app: String, campaign: String?, reason: String?) throws(AdminError) -> CampaignRequest {
        let id = campaign ?? "\(app)-\(UUID().uuidString.lowercased())"
        let isPlain = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }
        guard isPlain, AdminLimits.campaignID.contains(id.utf8.count) else {
            throw .invalid("campaign: expected 1 to 200 printable ASCII characters without blanks and /")
        }
        guard (reason?.utf8.count ?? 0) <= AdminLimits.reason else {
            throw .invalid("reason: expected at most \(AdminLimits.reason) bytes")
        }
        return CampaignRequest(id: id, app: app, reason: reason, at: context.now)
    }

    /// 201 once the broker has the message. If it is not to be had the campaign is recorded all the same, and the
    /// active coordinator publishes it as soon as it can: 202.
    private func answer(_ campaign: CampaignRecord) async throws -> Response {
        var status = HTTPResponse.Status.created
        if campaign.state == .publishing {
            do {
                _ = try await context.publisher.publish(campaign)
            } catch {
                status = .accepted
                context.logger.warning(
                    "campaign recorded, but not published yet",
                    metadata: ["campaign": "\(campaign.id)", "app": "\(campaign.app)", "error": "\(error)"])
            }
        }
        var summary = try await context.campaign(campaign.id)
        summary.slices = nil
        return try AdminResponse.json(summary, status: status)
    }
}
