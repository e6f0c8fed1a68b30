import Storage
import SyncModel

/// Makes a whole store that was put back to an earlier state, of one moment, ready for clients that are ahead of it: what
/// `sluice restore` does with a backup.
struct StoreRewind {
    let stores: any Stores
    let restore: RestoreRecord

    func act() async throws {
        let control = try await stores.control()
        for (slice, known) in try await control.slicesMade().sorted(by: { $0.key < $1.key }) {
            let store = try await stores.store(for: slice, mayMake: false)
            let last = max(known, try await store.ownership()?.epoch ?? Epoch(0))
            let epoch = Epoch(last.value + RestoreRecord.lostEpochs)
            try await store.putBack(restore, epoch: epoch)
            try await control.recordSlice(slice, epoch: epoch)
        }
        for app in try await control.apps() {
            guard var latest = try await Self.latestTermination(of: app.id, control),
                latest.generation == app.generation
            else { continue }
            // A slice may have carried it out since, or never will: its message has been acknowledged. To publish it twice
            // changes nothing.
            latest.state = .publishing
            let campaign = latest
            try await control.changeCampaigns { transaction in
                var changes = CampaignChanges()
                changes.campaigns = [campaign]
                try transaction.write(changes)
            }
        }
    }

    private static func latestTermination(
        of app: String, _ control: any ControlStore
    ) async throws -> CampaignRecord? {
        var last: String?
        while true {
            let page = try await control.campaigns(app: app, after: last, limit: 100)
            if let found = page.first(where: { $0.campaign.kind == .termination }) { return found.campaign }
            guard page.count == 100 else { return nil }
            last = page.last?.campaign.id
        }
    }
}
