import SeededRandom
import Storage
import SyncModel

extension ControlStepMaker {
    /// Writes of campaigns what is made up, now and then in a transaction that is thrown away.
    mutating func campaign() -> ControlStep {
        let changes = campaignChanges()
        let (isThrownAway, campaign) = (below(8) == 0, Self.campaigns[below(Self.campaigns.count)])
        let (work, limit, now) = (below(6), below(3), now)
        let kept = 1 + below(2)
        return ControlStep("campaign \(campaign): work \(work), thrown away: \(isThrownAway), \(changes)") {
            store throws(StoreError) in
            try await store.changeCampaigns { transaction in
                try transaction.write(changes)
                var outcome = ""
                switch work {
                case 0: try transaction.markFound([campaign], at: now)
                case 1: outcome = "\(try transaction.giveUpPending(of: campaign, limit: limit, at: now))"
                case 2: try transaction.removeClosedCampaigns(ofApp: Self.apps[0], beyond: kept)
                case 3: outcome = "\(try transaction.closable(startedBefore: now, limit: 3).map(\.id))"
                case 4: outcome = "\(try transaction.slicesReported(to: [campaign])[campaign] ?? 0)"
                default: outcome = "\(try transaction.counts(of: [campaign])[campaign] ?? CampaignCounts())"
                }
                if isThrownAway { throw StoreError(.full, "thrown away") }
                return outcome
            }
        }
    }

    private mutating func campaignChanges() -> CampaignChanges {
        var changes = CampaignChanges()
        let id = Self.campaigns[below(Self.campaigns.count)]
        if below(3) > 0 {
            // A campaign stays one of its app, kind and realm.
            let place = Int(id.dropFirst()) ?? 0
            changes.campaigns = [
                CampaignRecord(
                    id: id, app: Self.apps[place % 2], kind: CampaignRecord.Kind.allCases[place % 4],
                    reason: "because ä", partition: Self.partitions[place % 5], startedAt: UInt64(place),
                    generation: UInt64(place), state: CampaignRecord.State.allCases[below(4)], slicesExpected: 2)
            ]
        }
        for _ in 0..<below(4) {
            changes.chunks.insert(
                .init(campaign: id, slice: SliceNumber(below(3)), chunks: 2, chunk: below(2)))
        }
        for _ in 0..<below(4) {
            let outcome = OutcomeClass.allCases[below(OutcomeClass.allCases.count)]
            let entry = CampaignEntry(
                app: Self.apps[(Int(id.dropFirst()) ?? 0) % 2], slice: SliceNumber(below(3)),
                clientRealm: CampaignClientRealm(
                    campaign: id, partition: Self.partitions[below(5)], clientFile: FileIdent(UInt64(2 + below(3))),
                    user: Self.users[below(3)], lastSeen: now, foundAt: below(3) == 0 ? nil : now,
                    notifiedAt: below(2) == 0 ? now : nil, outcome: outcome, updatedAt: now))
            changes.entries.removeAll { $0.key == entry.key }
            changes.entries.append(entry)
        }
        return changes
    }
}
