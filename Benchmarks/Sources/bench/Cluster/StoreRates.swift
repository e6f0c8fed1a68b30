import Synchronization

/// What was measured with each store, run by run.
final class StoreRates: Sendable {
    private let values = Mutex<[BenchStore: [Double]]>([:])

    func note(_ value: Double, _ store: BenchStore) { values.withLock { $0[store, default: []].append(value) } }

    /// Prints the best and the median of each store, and their shares of what the first store has; and the JSON lines.
    func show(_ name: String, _ options: ClusterBenchOptions, unit: String) {
        let values = values.withLock { $0 }
        func best(_ store: BenchStore) -> Double { values[store]?.max() ?? 0 }
        func median(_ store: BenchStore) -> Double {
            let sorted = (values[store] ?? []).sorted()
            return sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        }
        guard let first = options.store.first else { return }
        if options.store.count > 1 {
            var table = TextTable("store", "best", "share", "median", "share")
            for store in options.store {
                table.row(
                    store.name, best(store).text(), "\((100 * best(store) / max(best(first), 1)).text()) %",
                    median(store).text(), "\((100 * median(store) / max(median(first), 1)).text()) %")
            }
            table.show()
        }
        guard options.json else { return }
        for store in options.store {
            Measurement(
                name: name, store: options.store.count > 1 ? store : nil, value: best(store), unit: unit,
                comparison: store == first ? nil : best(first)
            ).printLine()
        }
    }
}
