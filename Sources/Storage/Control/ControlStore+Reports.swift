extension ControlStore {
    /// Applies reports together, or one by one if the store will never take them together: one that meets a damaged row
    /// is rejected and holds up nobody else's.
    ///
    /// - Throws: what may pass, as of a store that is full or locked. Reports that were applied before it are applied
    ///   again without effect.
    package func applyWhatItCan(
        _ reports: [CampaignReport], slices: Int, at now: UInt64
    ) async throws(StoreError) -> CampaignEffects {
        do {
            return try await apply(reports, slices: slices, at: now)
        } catch {
            guard !error.isRetriable else { throw error }
        }
        var effects = CampaignEffects()
        for (index, report) in reports.enumerated() {
            do throws(StoreError) {
                effects.add(try await apply([report], slices: slices, at: now), index: index)
            } catch {
                guard !error.isRetriable else { throw error }
                effects.rejected.append(.init(index: index, reason: "the store cannot take it: \(error.message)"))
            }
        }
        return effects
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
