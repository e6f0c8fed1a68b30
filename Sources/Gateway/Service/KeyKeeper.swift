import Logging
import ServiceLifecycle

/// Reads the signing keys again now and then, so that a gateway that no notice has reached signs with the newest, too.
struct KeyKeeper: Service {
    let tokens: TokenAuthority
    let interval: Duration
    let logger: Logger

    func run() async throws {
        while !Task.isShuttingDownGracefully {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            guard !Task.isShuttingDownGracefully, !Task.isCancelled else { return }
            do {
                try await tokens.loadKeys()
            } catch {
                logger.warning("the signing keys cannot be read again", metadata: ["error": "\(type(of: error))"])
            }
        }
    }
}
