import Hummingbird

/// What a handler of the admin API knows about its request.
struct AdminRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The address of whoever has opened the connection, for the audit log: a proxy's, where one stands before the coordinator.
    let address: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        address = source.channel.remoteAddress?.ipAddress
    }
}
