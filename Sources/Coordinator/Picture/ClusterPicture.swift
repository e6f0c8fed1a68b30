import AMQP
import AdminAPI
import Messages
import Operations
import Storage
import SyncModel

/// What the dashboard shows of the cluster; made at most once a second, however many look.
actor ClusterPicture {
    private let context: CoordinatorContext
    private var made: OverviewDocument?
    private var letters: (count: Int?, at: UInt64)?
    private var campaigns: (running: (count: Int, pending: Int)?, at: UInt64, age: UInt64)?
    private var isAskingForCampaigns = false

    /// Milliseconds for which the picture, and what the broker and the store are asked for, count as new.
    static let age: UInt64 = 900
    static let askedAge: UInt64 = 1_900
    /// A part of the time as large as one by this, at most, goes into counting client realms.
    static let patience: UInt64 = 20
    /// Campaigns that are looked at: an app has few that run.
    static let maxCampaigns = 200
    /// Milliseconds for which figures of the store are shown that it has not renewed, and looks of 10 ms that the first picture waits for them.
    static let storeAge: UInt64 = 10_000
    static let firstLooks = 50

    init(context: CoordinatorContext) { self.context = context }

    /// The picture as processes tell it. What only the store knows is asked for beside: a store that is slow or away delays nobody.
    func overview() async -> OverviewDocument {
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
        let running = await runningCampaigns(now)
        (picture.campaignsRunning, picture.resetsPending) = (running?.count, running?.pending)
        let store = context.readiness.component("coordinator.store")
        Health.describe(
            &picture, context.slicePictures(at: now), isBrokerUp: context.link.isUsable,
            storeObstacle: store.flatMap { $0.ready ? nil : $0.reason },
            processes: context.state.processes(at: now), clocks: context.state.clockOffsets(at: now).byProcess)
        made = picture
        return picture
    }

    private func deadLetters(_ now: UInt64) async -> Int? {
        if let letters, now >= letters.at, now - letters.at < Self.askedAge { return letters.count }
        // A broker that is away would be waited for.
        guard context.link.isUsable else { return nil }
        let count = try? await context.link.inspect(context.topology.dead).messageCount
        letters = (count, now)
        return count
    }

    private func runningCampaigns(_ now: UInt64) async -> (count: Int, pending: Int)? {
        func isFresh(_ age: UInt64) -> Bool { campaigns.map { now < $0.at || now - $0.at < age } ?? false }
        if !isFresh(campaigns?.age ?? 0), !isAskingForCampaigns {
            isAskingForCampaigns = true
            Task { await self.askForCampaigns() }
        }
        for _ in 0..<Self.firstLooks where campaigns == nil && isAskingForCampaigns {
            try? await Task.sleep(for: .milliseconds(10))
        }
        return isFresh(Self.storeAge) ? campaigns?.running : nil
    }

    private func askForCampaigns() async {
        let start = context.now
        let open = try? await context.store.campaigns(
            CampaignFilter(isOpen: true), after: nil, limit: Self.maxCampaigns)
        let end = context.now
        let running = open.map { open in (count: open.count, pending: open.reduce(0) { $0 + $1.counts.pending }) }
        campaigns = (running, end, max(Self.askedAge, (end > start ? end - start : 0) * Self.patience))
        isAskingForCampaigns = false
    }
}

extension [[String]: Double] {
    /// Clocks by the process, which is the metric's one label.
    fileprivate var byProcess: [String: Double] {
        reduce(into: [:]) { all, one in if let process = one.key.first { all[process] = one.value } }
    }
}

extension CoordinatorContext {
    /// The slices as heartbeats, the broker and the last minutes tell.
    func slicePictures(at now: UInt64) -> [SliceDocument] { state.slicePictures(slices, at: now) }
}
