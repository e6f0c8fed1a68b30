import AMQP
import AdminAPI
import Messages
import Storage
import SyncModel

/// What the dashboard shows of the cluster; made at most once a second, however many look.
actor ClusterPicture {
    private let context: CoordinatorContext
    private var made: OverviewDocument?
    private var letters: (count: Int?, at: UInt64)?
    private var campaigns: (running: Int, pending: Int, at: UInt64, age: UInt64)?

    /// Milliseconds for which the picture, and what the broker and the store are asked for, count as new.
    static let age: UInt64 = 900
    static let askedAge: UInt64 = 1_900
    /// A part of the time as large as one by this, at most, goes into counting client realms.
    static let patience: UInt64 = 20
    /// Campaigns that are looked at: an app has few that run.
    static let maxCampaigns = 200

    init(context: CoordinatorContext) { self.context = context }

    func overview() async throws -> OverviewDocument {
        let now = context.now
        if let made, now >= made.at, now - made.at < Self.age { return made }
        var picture = OverviewDocument(
            coordinator: context.configuration.id, active: context.state.isActive, at: now, slices: context.slices.value
        )
        picture.workers = context.state.cluster.workers().count {
            $0.isStaying && ClusterView.isThere(heardAt: $0.lastHeardAt, now: now)
        }
        picture.gateways = context.state.gateways(at: now)
        picture.figures = context.state.lastPoint
        picture.grafana = context.configuration.grafanaURL
        picture.deadLetters = await deadLetters(now)
        (picture.campaignsRunning, picture.resetsPending) = try await runningCampaigns(now)
        Health.describe(&picture, context.slicePictures(at: now), isBrokerUp: context.link.isUsable)
        made = picture
        return picture
    }

    private func deadLetters(_ now: UInt64) async -> Int? {
        if let letters, now >= letters.at, now - letters.at < Self.askedAge { return letters.count }
        let count = try? await context.link.inspect(context.topology.dead).messageCount
        letters = (count, now)
        return count
    }

    private func runningCampaigns(_ now: UInt64) async throws -> (running: Int, pending: Int) {
        if let campaigns, now >= campaigns.at, now - campaigns.at < campaigns.age {
            return (campaigns.running, campaigns.pending)
        }
        let open = try await context.store.campaigns(
            CampaignFilter(isOpen: true), after: nil, limit: Self.maxCampaigns)
        let pending = open.reduce(0) { $0 + $1.counts.pending }
        let end = context.now
        campaigns = (open.count, pending, end, max(Self.askedAge, (end > now ? end - now : 0) * Self.patience))
        return (open.count, pending)
    }
}

extension CoordinatorContext {
    /// The slices as heartbeats, the broker and the last minutes tell.
    func slicePictures(at now: UInt64) -> [SliceDocument] { state.slicePictures(slices, at: now) }
}
