import Messages
import SyncModel
import Views

extension BootstrapRequest {
    var definition: ViewDefinition { ViewDefinition(version: version, queries: queries, roles: roles) }
}

extension BegunBootstrap {
    init(version: UInt64, of session: SessionReference) {
        self.init(version: version, gateway: session.gateway, session: session.number)
    }
}
