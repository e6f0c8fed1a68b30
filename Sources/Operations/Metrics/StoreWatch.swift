import ServiceLifecycle

/// Asks the process's store something small again and again, and says in `sluice_store_up` and in the readiness of components whether it
/// answers: what a role does with the store may be seldom, or wait for long before it fails.
package struct StoreWatch: Service {
    private let interval: Duration
    private let patience: Duration
    private let ask: @Sendable () async throws -> Void
    private let words: @Sendable (any Error) -> String
    private let show: @Sendable (String?) -> Void

    /// - Parameters:
    ///   - patience: a store that has not answered by then counts as away until it does.
    ///   - words: what an error of the store means to an operator.
    ///   - show: told after each asking why the store is away, or nil; nil: the metric and the readiness are.
    ///   - ask: throws if the store is away.
    package init(
        of components: [String], in readiness: Readiness, every interval: Duration = .seconds(2),
        patience: Duration = .seconds(3), words: @escaping @Sendable (any Error) -> String = { "\($0)" },
        show: (@Sendable (String?) -> Void)? = nil, ask: @escaping @Sendable () async throws -> Void
    ) {
        self.interval = interval
        self.patience = patience
        self.ask = ask
        self.words = words
        let gauge = KnownGauge("sluice.store.up")
        self.show =
            show ?? { reason in
                gauge.show(reason == nil ? 1 : 0)
                for component in components {
                    readiness.set(component, of: "watch", ready: reason == nil, reason: reason ?? "")
                }
            }
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
                show("the store has not answered for \(patience)")
            }
            guard waiting else { return }
            var reason: String?
            do { try await ask() } catch { reason = words(error) }
            group.cancelAll()
            await group.waitForAll()
            if !Task.isCancelled { show(reason) }
        }
    }
}
