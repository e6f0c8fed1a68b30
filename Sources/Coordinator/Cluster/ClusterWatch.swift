import Operations
import ServiceLifecycle
import SyncModel

/// Says how the cluster stands by what its processes have said: which slices have no owner or nobody who stands by, whose clock is
/// off, and whether this coordinator is the active one. The coordinator's beats wait for broker and store, and this waits for nobody:
/// what it says is true also while they are away.
struct ClusterWatch: Sendable {
    let context: CoordinatorContext

    func run() async {
        let interval = min(context.configuration.tickInterval, .seconds(1))
        while !Task.isCancelled && !Task.isShuttingDownGracefully {
            look(at: context.now)
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
        }
    }

    func look(at now: UInt64) {
        if context.state.passed(to: now) { context.standBy("no deliveries") }
        let isActive = context.state.isActive
        CoordinatorMetrics.active(isActive)
        if !isActive {
            CoordinatorMetrics.standsBy()
            // The next one to be active shows them at once.
            context.state.campaignGauges.changed()
        }
        if !context.link.isUsable { CoordinatorMetrics.outcomesReady(nil) }
        CoordinatorMetrics.clocks(context.state.clockOffsets(at: now))
        reportSlices(context.state.cluster.standing(of: context.slices, at: now))
    }

    /// A cluster with a slice that nobody owns does not serve the realms in it.
    private func reportSlices(_ standing: ClusterView.Standing) {
        CoordinatorMetrics.slices(ownerless: standing.ownerless.count, withoutStandby: standing.withoutStandby)
        let names =
            standing.ownerless.prefix(8).map(\.description).joined(separator: ", ")
            + (standing.ownerless.count > 8 ? " ..." : "")
        context.readiness.set(
            "coordinator.slices", ready: standing.ownerless.isEmpty,
            reason: standing.ownerless.isEmpty
                ? "all have an owner" : "\(standing.ownerless.count) without an owner: \(names)")
    }
}
