import Operations

/// What gateways count by app.
enum GatewayCounter: String, AppCounter {
    case uploads = "sluice.gateway.uploads"
    case uploadBytes = "sluice.gateway.upload.bytes"
    case downloadBytes = "sluice.gateway.download.bytes"
    case denied = "sluice.gateway.binds.denied"
    case incompatible = "sluice.gateway.binds.incompatible"
    case moved = "sluice.gateway.binds.moved"
    case loginsRefused = "sluice.gateway.logins.refused"
    case socketsRefused = "sluice.gateway.sockets.refused"
    case socketsSlowed = "sluice.gateway.sockets.slowed"
    case quotasMet = "sluice.gateway.quotas.met"
    case quotasSlowed = "sluice.gateway.quotas.slowed"
    case tooDear = "sluice.gateway.views.too_dear"

    var label: CounterLabel? {
        switch self {
        case .denied: CounterLabel("reason", ["rules", "noRules", "user", "unavailable"])
        case .loginsRefused: CounterLabel("limit", ["address", "account", "app", "queue"])
        case .quotasMet: .quotasOfGateways
        case .quotasSlowed: .quotasOfGateways
        default: nil
        }
    }
}
