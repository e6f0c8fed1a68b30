import Storage

extension ControlStore {
    /// Applies reports together, or one by one if the store will never take them together: a report that meets a damaged row
    /// is rejected, and the others are applied.
    ///
    /// - Throws: what may pass, as of a store that is full or locked; and damage that is not of single reports, which waits
    ///   for an operator: every report would be rejected until then. Reports that were applied before it are applied again
    ///   without effect.
    func applyWhatItCan(
        _ reports: [CampaignReport], slices: Int, at now: UInt64,
        noting: @escaping @Sendable ([CampaignRecord]) -> [AuditEntry] = { _ in [] }
    ) async throws(StoreError) -> CampaignEffects {
        do {
            return try await apply(reports, slices: slices, at: now, noting: noting)
        } catch {
            guard !error.isRetriable else { throw error }
        }
        var effects = CampaignEffects()
        var damaged: [(report: CampaignReport, error: StoreError)] = []
        for (index, report) in reports.enumerated() {
            do throws(StoreError) {
                effects.add(try await apply([report], slices: slices, at: now, noting: noting), index: index)
            } catch {
                guard !error.isRetriable else { throw error }
                if error.code == .corrupt { damaged.append((report, error)) }
                effects.rejected.append(.init(index: index, reason: "the store cannot take it: \(error.message)"))
            }
        }
        try await checkThatOthersGoOn(damaged, of: reports.count)
        return effects
    }

    /// - Throws: what the reports have met, if it is more than their own rows.
    private func checkThatOthersGoOn(
        _ damaged: [(report: CampaignReport, error: StoreError)], of count: Int
    ) async throws(StoreError) {
        guard let first = damaged.first else { return }
        for app in Set(damaged.map(\.report.app)) { _ = try await self.app(app) }
        // These queries for nothing tell whether the tables can be read at all.
        _ = try await campaign("")
        _ = try await clientRealms(campaign: "", outcome: nil, after: nil, limit: 1)
        guard count > 1, damaged.count == count else { return }
        // A campaign whose row is damaged may well have the whole batch to itself; a damaged file, or several campaigns and
        // none that is sound, is another matter.
        let isOfTheFile = damaged.contains { $0.error.underlying != nil }
        guard isOfTheFile || Set(damaged.compactMap(\.report.campaign)).count > 1 else { return }
        throw first.error
    }
}

extension CampaignEffects {
    /// - Parameter index: which of the reports the other effects are of.
    fileprivate mutating func add(_ other: CampaignEffects, index: Int) {
        opened += other.opened
        changed.removeAll { campaign in other.changed.contains { $0.id == campaign.id } }
        changed += other.changed
        for app in other.raisedApps where !raisedApps.contains(app) { raisedApps.append(app) }
        rejected += other.rejected.map { .init(index: index, reason: $0.reason) }
        parked += other.parked
        dropped += other.dropped
    }
}
