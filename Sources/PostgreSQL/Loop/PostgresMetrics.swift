import Metrics

/// A client's statistics as metrics of the process.
struct PostgresMetrics: Sendable {
    private let roundTrips: Counter
    private let losses: Counter
    private let conflicts: Counter

    init(prefix: String) {
        roundTrips = Counter(label: "\(prefix).round.trips")
        losses = Counter(label: "\(prefix).connections.lost")
        conflicts = Counter(label: "\(prefix).conflicts")
    }

    func count(from before: PostgresStatistics, to after: PostgresStatistics) {
        for (counter, grown) in [
            (roundTrips, after.roundTrips - before.roundTrips), (losses, after.losses - before.losses),
            (conflicts, after.conflicts - before.conflicts),
        ] where grown > 0 {
            counter.increment(by: grown)
        }
    }
}
