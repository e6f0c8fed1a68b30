import Storage
import Synchronization

/// Shows the newest campaign of each app whenever reports have changed any, and now and then in any case: looking costs as much as
/// there are apps.
final class CampaignGauges: Sendable {
    /// The time between two looks although nothing has changed here, in milliseconds.
    static let interval: UInt64 = 60_000

    private struct State {
        var shownAt: UInt64?
        var isChanged = false
    }

    private let state = Mutex(State())

    /// Reports were applied.
    func changed() { state.withLock { $0.isChanged = true } }

    func show(_ store: any CampaignStore, at now: UInt64) async throws(StoreError) {
        let isDue = state.withLock { state in
            let isOld = state.shownAt.map { now < $0 || now - $0 >= Self.interval } ?? true
            guard state.isChanged || isOld else { return false }
            state = State(shownAt: now)
            return true
        }
        guard isDue else { return }
        do throws(StoreError) {
            CoordinatorMetrics.campaigns(try await store.newestCampaigns())
        } catch {
            changed()
            throw error
        }
    }
}
