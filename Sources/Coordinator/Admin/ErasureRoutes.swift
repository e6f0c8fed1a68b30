import AdminAPI
import HTTPTypes
import Hummingbird
import Logging
import Rules
import Storage
import SyncModel

/// What takes things away for good: realms, users with the realms that are their own, apps.
struct ErasureRoutes: Sendable {
    let context: CoordinatorContext

    func add(to group: RouterGroup<AdminRequestContext>) {
        group.on(.post, .eraseRealm) { try await eraseRealm($0, app: $1.value(of: .app)) }
        group.on(.delete, .app) { try await deleteApp($0, id: $1.value(of: .app)) }
        group.on(.delete, .user) { try await deleteUser($0, $1.value(of: .user), of: $1.value(of: .app)) }
        group.answer(.get, .deletion) { _, route in
            let app = try route.value(of: .app)
            guard let deletion = try await context.store.deletion(ofApp: app) else {
                throw AdminError.notFound("deletion of an app \(app.prefix(64))")
            }
            return deletion
        }
        group.answer(.get, .deletions) { request, _ in
            let limit = try AdminRequest.limit(request)
            return AppDeletionList(deletions: try await context.store.deletions(limit: limit))
        }
    }

    // MARK: Realms

    private func eraseRealm(_ request: Request, app: String) async throws -> Response {
        let body = try await AdminRequest.body(EraseRequest.self, of: request)
        let campaigns = CampaignRequests(context: context)
        let new = try campaigns.request(app: app, campaign: body.campaign, reason: body.reason)
        let record = try await context.app(app)
        guard !record.isMoving else {
            throw AdminError.conflict(
                "app_moving",
                "app \(app) is being moved to the other sync mode, and what its realms hold with it: erase the realm when that has ended"
            )
        }
        let realm = try RealmChoice(partition: body.partition, flexible: body.flexible).name(in: record)
        // A repetition finds no realm any more.
        if try await context.store.campaign(new.id) == nil { try await campaigns.requireRealm(realm) }
        if body.dryRun == true {
            return try AdminResponse.json(try await plan(ErasurePlan(app: app, partitions: [realm.partition])))
        }
        let isFlexible = realm.isFlexible
        try requireConfirmation(
            body.confirm, is: isFlexible ? app : body.partition ?? "", called: isFlexible ? "app" : "partition")
        let campaign = try await context.store.startErasure(new, partition: realm.partition)
        context.logger.notice(
            "realm is to be erased",
            metadata: ["app": "\(app)", "realm": "\(realm.partition)", "campaign": "\(campaign.id)"])
        return try await campaigns.answer(campaign)
    }

    // MARK: Users

    private func deleteUser(_ request: Request, _ id: String, of appID: String) async throws -> Response {
        let withRealm = try AdminRequest.flag(.withRealm, request)
        let isDry = try AdminRequest.flag(.dryRun, request)
        var own: [String] = []
        if withRealm || isDry {
            let app = try await context.app(appID)
            let user = try await context.user(id, of: appID)
            if withRealm {
                own = try await ownPartitions(of: user, in: app)
            }
        }
        if isDry { return try AdminResponse.json(try await plan(ErasurePlan(app: appID, user: id, partitions: own))) }
        // Recorded before the user goes: what follows is found recorded if this process dies in between.
        var recorded: [CampaignRecord] = []
        for (index, partition) in own.enumerated() where try await mayExist(RealmName(app: appID, partition: partition))
        {
            let request = CampaignRequest(
                id: UserErasure.campaign(app: appID, user: id, index: index), app: appID, reason: "user deleted",
                at: context.now)
            recorded.append(try await context.store.startErasure(request, partition: partition))
        }
        try await context.store.removeUser(app: appID, id: id)
        context.logger.notice("user removed", metadata: ["app": "\(appID)", "user": "\(id)"])
        await context.notices.send(.user(app: appID, id: id))
        for campaign in recorded { _ = try await CampaignRequests(context: context).answer(campaign) }
        return try AdminResponse.json(
            UserRemoval(app: appID, user: id, erasures: withRealm ? recorded.map(\.id) : nil))
    }

    /// - Throws: `nothing_own`.
    private func ownPartitions(of user: UserRecord, in app: AppRecord) async throws -> [String] {
        var own = try await context.rules.document(of: app)?.ownPartitions(of: RuleUser(user)) ?? []
        if app.syncMode == .flexible {
            // Rules may say it of partitions that the app left behind, or never had.
            var left: [String] = []
            for partition in own where try await mayExist(RealmName(app: app.id, partition: partition)) {
                left.append(partition)
            }
            own = left
            guard !own.isEmpty else {
                throw AdminError.conflict(
                    "nothing_own",
                    "app \(app.id) uses flexible sync: what user \(user.id) has written is in the realm of all users. Erase those objects"
                        + " as changes, and delete the user without its realm")
            }
        }
        guard !own.isEmpty else {
            throw AdminError.conflict(
                "nothing_own",
                "by the rules of app \(app.id) no partition is user \(user.id)'s own: others may open those named by the"
                    + " user's id, too. Erase realms by their partitions, and delete the user without its realm")
        }
        return own
    }

    /// False for a realm that the stores do not have, if they can be read from here.
    private func mayExist(_ realm: RealmName) async throws -> Bool {
        do {
            try await CampaignRequests(context: context).requireRealm(realm)
            return true
        } catch let error as AdminError where error.status == .notFound {
            return false
        }
    }

    // MARK: Apps

    private func deleteApp(_ request: Request, id: String) async throws -> Response {
        if let known = try await context.store.deletion(ofApp: id) { return try AdminResponse.json(known) }
        let app = try await context.app(id)
        if try AdminRequest.flag(.dryRun, request) {
            let users = try await context.store.userCount(app: id)
            return try AdminResponse.json(try await plan(ErasurePlan(app: id, users: users)))
        }
        try requireConfirmation(AdminRequest.query(.confirm, request), is: app.id, called: "app")
        let deletion = try await context.store.deleteApp(
            AppDeletionRecord(
                app: id, by: AdminCaller.current?.token ?? "admin", at: context.now, slices: context.slices.value))
        context.logger.notice("app deleted", metadata: ["app": "\(id)"])
        await context.notices.send(id)
        await AppDeletions.publish(deletion, context)
        return try AdminResponse.json(deletion, status: .accepted)
    }

    // MARK: What would go

    private func plan(_ empty: ErasurePlan) async throws -> ErasurePlan {
        let stores = try await context.stores(for: ", from which it is told what would go")
        var plan = empty
        if let partitions = empty.partitions {
            for name in partitions.map({ RealmName(app: empty.app, partition: $0) }) {
                let slice = name.slice(of: context.slices)
                guard stores.slices.contains(slice) else { continue }
                let reader = try await stores.inspector.reader(for: slice)
                if let realm = try await reader.realm(name) { plan.add(try await reader.weight(of: realm.id)) }
            }
        } else {
            try await stores.forEachRealm(of: empty.app) { plan.add(try await $1.weight(of: $0.id)) }
        }
        return plan
    }

    private func requireConfirmation(_ given: String?, is wanted: String, called name: String) throws(AdminError) {
        guard given == wanted else {
            throw .invalid(
                "confirm: this cannot be undone; expected the \(name) once more, found "
                    + (given.map { "\"\($0.prefix(64))\"" } ?? "nothing"))
        }
    }
}
