import AdminAPI
import Hummingbird
import Logging
import Operations

/// The admin HTTP API: `AdminAPI` describes it, docs/admin-api.md tells of it.
struct AdminServer: Sendable {
    let host: String
    let port: Int
    let boundPort: BoundPort
    let token: AdminToken
    let apps: AppRoutes
    let sync: SyncRoutes
    let campaigns: CampaignRoutes
    let plans: PlanRoutes
    let cluster: ClusterRoutes
    let logger: Logger

    func run() async throws {
        defer { boundPort.stop() }
        let router = Router(context: BasicRequestContext.self)
        router.add(middleware: AdminErrorMiddleware(logger: logger))
        router.add(middleware: AdminAuthenticationMiddleware(token: token))
        let group = router.group(RouterPath(AdminRoute.base))
        apps.add(to: group)
        sync.add(to: group)
        campaigns.add(to: group)
        plans.add(to: group)
        cluster.add(to: group)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                boundPort.set(port)
                logger.info("admin API listening", metadata: ["host": "\(host)", "port": "\(port)"])
            },
            logger: logger)
        try await application.run()
    }
}
