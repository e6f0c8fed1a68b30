import ServiceLifecycle

/// Looks after all connections now and then, and sends them away at the shutdown.
struct ConnectionKeeper: Service {
    let registry: ConnectionRegistry
    let link: ClusterLink
    let interval: Duration
    let closing: Duration

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                registry.tick(sessions: link.sessions.count)
            }
        }
        registry.stop()
        // The clients hang up when they have read it; those that do not are closed by their sockets' deadline.
        let deadline = ContinuousClock.now + closing + .seconds(3)
        while registry.count > 0, ContinuousClock.now < deadline, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(20))
        }
        for connection in registry.all { connection.post(.hangUp) }
    }
}
