import Messages
import ServiceLifecycle

/// Tells this coordinator and the others, now and then, that it lives and which process it is; and once more when it stops.
struct CoordinatorReporter: Sendable {
    static let interval = Duration.seconds(5)

    let context: CoordinatorContext

    func run() async {
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            await report(isStaying: true)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
        await report(isStaying: false)
    }

    private func report(isStaying: Bool) async {
        let figures = CoordinatorFigures(
            coordinator: context.configuration.id, at: context.now, isActive: context.state.isActive,
            process: context.configuration.process?(), isStaying: isStaying)
        // This coordinator needs no broker to know about itself.
        context.state.heard(figures, at: context.now)
        guard context.link.isUsable else { return }
        try? await context.link.tell(figures, exchange: context.topology.outcomes, routingKey: Topology.figuresKey)
    }
}
