import AdminAPI
import Hummingbird
import Logging
import Operations

/// The admin HTTP API: `AdminAPI` describes it, docs/admin-api.md tells of it.
struct AdminServer: Sendable {
    let context: CoordinatorContext
    let boundPort: BoundPort
    let token: AdminToken

    func run() async throws {
        defer { boundPort.stop() }
        let (logger, host) = (context.logger, context.configuration.host)
        let router = routes()
        router.refuseOtherMethods(answersHead: false) { AdminError.methodNotAllowed($0) }
        let application = Application(
            router: router, server: .http1(tls: context.configuration.tls),
            configuration: ApplicationConfiguration(address: .hostname(host, port: context.configuration.port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                boundPort.set(port)
                logger.info("admin API listening", metadata: ["host": "\(host)", "port": "\(port)"])
            },
            logger: logger)
        try await reportingTakenPort(at: host, context.configuration.port, settings: "coordinator") {
            try await application.run()
        }
    }

    /// What is served; `docs/api/admin.json` describes each of these routes.
    func routes() -> Router<AdminRequestContext> {
        let logger = context.logger
        let router = Router(context: AdminRequestContext.self)
        let access = AdminGuard(
            bootstrap: token, store: context.store, isSecure: context.configuration.tls != nil,
            ended: context.sessions, clock: context.clock)
        let trail = AuditTrail(store: context.store, clock: context.clock, logger: logger)
        router.add(middleware: DashboardMiddleware())
        router.add(middleware: AdminErrorMiddleware(logger: logger))
        router.add(middleware: AdminAuthenticationMiddleware(access: access, trail: trail))
        let group = router.group(RouterPath(AdminRoute.base))
        let places = EventPlaces(AdminLimits.eventStreams)
        AppRoutes(context: context).add(to: group)
        SchemaRoutes(context: context).add(to: group)
        SchemaVersionRoutes(context: context).add(to: group)
        RulesRoutes(context: context).add(to: group)
        UserRoutes(context: context).add(to: group)
        ErasureRoutes(context: context).add(to: group)
        SyncRoutes(context: context).add(to: group)
        MigrationRoutes(context: context).add(to: group)
        CampaignRoutes(
            context: context, events: CampaignEvents(context: context, places: places),
            export: CampaignExport(context: context)
        ).add(to: group)
        PlanRoutes(context: context).add(to: group)
        ClusterRoutes(context: context).add(to: group)
        let events = ClusterEvents(context: context, picture: ClusterPicture(context: context), places: places)
        PictureRoutes(context: context, events: events).add(to: group)
        DeadLetterRoutes(context: context).add(to: group)
        MessageRoutes(context: context).add(to: group)
        DoctorRoutes(context: context).add(to: group)
        RealmRoutes(context: context).add(to: group)
        ViewRoutes(context: context).add(to: group)
        VerificationRoutes(context: context).add(to: group)
        DocumentRoutes(context: context).add(to: group)
        ChangeRoutes(context: context).add(to: group)
        SessionRoutes(context: context, access: access, trail: trail).add(to: group)
        LoginRoutes(context: context).add(to: group)
        KeyRoutes(context: context).add(to: group)
        AccessRoutes(context: context).add(to: group)
        return router
    }
}
