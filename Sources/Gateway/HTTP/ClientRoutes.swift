import Hummingbird

/// Everything that a gateway serves over HTTP; `docs/api/client.json` describes each of these routes.
struct ClientRoutes: Sendable {
    let accounts: AccountService
    let registry: ConnectionRegistry
    let link: ClusterLink
    let gate: UpgradeGate
    let origin: @Sendable () -> String
    let configuration: GatewayConfiguration
    let clock: GatewayClock
    let metrics: GatewayMetrics

    func router() -> Router<GatewayRequestContext> {
        let router = Router(context: GatewayRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: APIErrorMiddleware(origin: origin))
        router.add(middleware: ClientAddressMiddleware(trusted: configuration.proxies.trusted))
        router.add(
            middleware: FailureBrakeMiddleware(
                brake: FailureBrake(delay: configuration.timings.failureDelay, clock: clock, metrics: metrics)))
        let maxBodyBytes = configuration.limits.accountBodyBytes
        AccountRoutes(
            accounts: accounts, origin: origin, maxBodyBytes: maxBodyBytes,
            loggedOut: { [registry] claims in registry.closeLogin(claims.sid, code: 4001, reason: "logged out") }
        ).add(to: router)
        APIKeyRoutes(accounts: accounts, maxBodyBytes: maxBodyBytes).add(to: router)
        MailedAccountRoutes(accounts: accounts, maxBodyBytes: maxBodyBytes).add(to: router)
        OutcomeRoutes(
            accounts: accounts, link: link, limiter: RateLimiter(rate: configuration.limits.outcomeRate, clock: clock),
            maxBodyBytes: maxBodyBytes, clock: clock
        ).add(to: router)
        // An incomplete handshake is an ordinary request.
        router.get("\(RouterPath("\(AccountRoutes.root)/app/:app/realm-sync"))") {
            [gate] request, context -> Response in
            let decision = await gate.decide(
                uri: request.head.path ?? "", subprotocols: request.headers[values: .secWebSocketProtocol],
                compatibilities: [],
                userAgent: request.headers[.userAgent], address: context.address)
            guard case .refuse(let error) = decision else {
                throw APIError.badRequest("expected a WebSocket handshake")
            }
            throw error
        }
        return router
    }
}
