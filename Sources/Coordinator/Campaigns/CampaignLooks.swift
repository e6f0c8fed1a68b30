import Storage

/// The campaigns as watchers are shown them. A campaign is read once for all of them, and the less often the longer reading takes:
/// counting a million client realms must not be all that the store does.
actor CampaignLooks {
    private struct Look {
        var summary: CampaignSummary?
        var at: ContinuousClock.Instant
        /// The time for which the look counts as new.
        var age: Duration
    }

    static let period: Duration = .milliseconds(300)
    /// A tenth of the time at most goes into reading a campaign.
    static let patience = 9
    /// The most looks that are remembered; at this number those are forgotten that do not count as new any more.
    static let most = 100

    private let store: any CampaignStore
    private var looks: [String: Look] = [:]
    private var reading: [String: Task<CampaignSummary?, any Error>] = [:]

    init(store: any CampaignStore) { self.store = store }

    /// - Returns: the campaign as it was a moment ago; nil if there is none.
    func campaign(_ id: String) async throws -> CampaignSummary? {
        let start = ContinuousClock.now
        if let look = looks[id], start - look.at < look.age { return look.summary }
        if let task = reading[id] { return try await task.value }
        let task = Task { [store] in try await store.campaign(id) }
        reading[id] = task
        defer { reading[id] = nil }
        let summary = try await task.value
        let end = ContinuousClock.now
        if looks.count >= Self.most { looks = looks.filter { end - $0.value.at < $0.value.age } }
        if looks.count < Self.most {
            looks[id] = Look(summary: summary, at: end, age: max(Self.period, (end - start) * Self.patience))
        }
        return summary
    }
}
