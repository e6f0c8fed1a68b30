import ServiceLifecycle

/// Asks the process's store something small again and again, and says in `sluice_store_up` whether it answers: what a role does with
/// the store may be seldom, or wait for long before it fails.
package struct StoreWatch: Service {
    private let interval: Duration
    private let patience: Duration
    private let ask: @Sendable () async throws -> Void
    private let show: @Sendable (Bool) -> Void

    /// - Parameters:
    ///   - patience: a store that has not answered by then counts as away until it does.
    ///   - ask: throws if the store is away.
    ///   - show: told whether the store is there, after each asking; nil: the metric is.
    package init(
        every interval: Duration = .seconds(5), patience: Duration = .seconds(3),
        show: (@Sendable (Bool) -> Void)? = nil, ask: @escaping @Sendable () async throws -> Void
    ) {
        self.interval = interval
        self.patience = patience
        self.ask = ask
        let gauge = KnownGauge("sluice.store.up")
        self.show = show ?? { gauge.show($0 ? 1 : 0) }
    }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                await look()
                try await Task.sleep(for: interval)
            }
        }
    }

    func look() async {
        await withTaskGroup(of: Void.self) { group in
            let waiting = group.addTaskUnlessCancelled {
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                show(false)
            }
            guard waiting else { return }
            let isUp = (try? await ask()) != nil
            group.cancelAll()
            await group.waitForAll()
            if !Task.isCancelled { show(isUp) }
        }
    }
}
