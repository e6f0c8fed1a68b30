import Logging
import Messages
import Storage
import SyncModel

/// Publishes what a recorded campaign asks of the slices. To publish twice is harmless: the workers know a campaign by
/// its generation and id. So a coordinator that finds one unpublished, at start or with a tick, publishes it.
struct CampaignPublisher: Sendable {
    let context: CoordinatorContext

    /// - Returns: the campaign after the broker has taken the message over.
    func publish(_ campaign: CampaignRecord) async throws -> CampaignRecord {
        // What a reset and an erasure are about.
        let realm = RealmName(app: campaign.app, partition: campaign.partition ?? "null")
        let slice = realm.slice(of: context.slices)
        switch campaign.kind {
        case .termination:
            try await context.link.publishToAllSlices(
                TerminationMessage(
                    app: campaign.app, campaign: campaign.id, generation: campaign.generation, reason: campaign.reason),
                id: campaign.id)
        case .reset:
            try await context.link.publish(
                ResetMessage(
                    realm: realm, clientFile: campaign.clientFile, campaign: campaign.id, reason: campaign.reason),
                id: campaign.id, to: slice)
        case .erasure:
            try await context.link.publish(
                EraseMessage(
                    realm: realm, campaign: campaign.id, reason: campaign.reason,
                    user: UserErasure.user(ofCampaign: campaign.id, app: campaign.app)),
                id: campaign.id, to: slice)
        // Slices have reported what it is about; there is nothing to ask of them.
        case .account: break
        }
        CoordinatorMetrics.terminationsPublished()
        let published = try await context.store.campaignPublished(campaign.id, at: context.now)
        context.logger.info(
            "campaign published",
            metadata: [
                "campaign": "\(campaign.id)", "app": "\(campaign.app)", "kind": "\(campaign.kind.rawValue)",
                "generation": "\(campaign.generation)",
            ])
        return published
    }

    /// Publishes every campaign that is recorded and not published yet.
    func publishRecorded() async {
        do {
            for campaign in try await context.store.unpublishedCampaigns() { _ = try await publish(campaign) }
        } catch {
            context.logger.warning("campaign not published, will try again", metadata: ["error": "\(error)"])
        }
    }
}
