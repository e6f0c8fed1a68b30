import Hummingbird
import Operations

/// What a handler knows about its request.
struct GatewayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// What rate limits count by.
    var address: ClientAddress

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        address = ClientAddress(ClientAddress.socketPeer)
    }
}

/// Finds the client behind trusted proxies.
struct ClientAddressMiddleware: RouterMiddleware {
    typealias Context = GatewayRequestContext

    let trusted: AddressRanges

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        let named = request.headers.filter { $0.name.canonicalName == "x-forwarded-for" }.map(\.value)
        context.address = ClientAddress(
            peer: context.address.ip, forwardedFor: named, trusting: trusted)
        return try await next(request, context)
    }
}
