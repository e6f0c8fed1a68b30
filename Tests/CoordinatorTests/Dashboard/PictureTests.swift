import AMQP
import AdminAPI
import AsyncHTTPClient
import Messages
import NIOCore
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite struct PictureTests {
    private func slice(_ number: Int, owner: String? = "w1", epoch: UInt64? = 1, ready: Int = 0, rate: Double? = nil)
        -> SliceDocument
    {
        var slice = SliceDocument(slice: SliceNumber(number))
        slice.owner = owner
        slice.epoch = owner == nil ? nil : epoch
        slice.ready = ready
        slice.unacknowledged = 0
        slice.perSecond = rate
        return slice
    }

    @Test func ratesGoOnOverARestart() {
        var rate = RunningRate()
        rate.heard(100)
        expectEqual(rate.take(), 0)
        rate.heard(130)
        rate.heard(140)
        expectEqual(rate.take(), 40)
        rate.heard(7)
        expectEqual(rate.take(), 7)
        expectEqual(rate.take(), 0)
    }

    private func figures(
        of gateway: String, at: UInt64, _ apps: [String: AppFigures]?, isStaying: Bool = true
    ) -> GatewayFigures {
        GatewayFigures(
            gateway: gateway, at: at, connections: 0, sessions: 0, changesets: 0, errors: 0, apps: apps,
            isStaying: isStaying)
    }

    @Test func anAppsTrafficIsTheSumOfWhatGatewaysTell() {
        var seen = ClusterFigures()
        func traffic(_ app: String = "tasks") -> AppTrafficDocument? { seen.traffic(of: app, at: 10_000) }
        expectEqual(traffic(), AppTrafficDocument())
        let begun = AppFigures(sessions: 2, changesets: 100, uploadBytes: 1_000, downloadBytes: 5_000)
        seen.heard(figures(of: "g1", at: 5_000, ["tasks": begun]), at: 5_000)
        // From one report no rate follows.
        expectTrue(traffic()?.sessions == 2 && traffic()?.changesetsPerSecond == 0)
        let later = AppFigures(sessions: 3, changesets: 150, uploadBytes: 1_500, downloadBytes: 10_000)
        seen.heard(figures(of: "g1", at: 10_000, ["tasks": later]), at: 10_000)
        // The clock of the second gateway is another one, which does not matter; it began anew in between.
        seen.heard(figures(of: "g2", at: 95_000, ["tasks": later]), at: 5_000)
        seen.heard(figures(of: "g2", at: 97_000, ["tasks": AppFigures(sessions: 1, changesets: 8)]), at: 10_000)
        var expected = AppTrafficDocument()
        (expected.sessions, expected.changesetsPerSecond) = (4, 14)
        (expected.uploadBytesPerSecond, expected.downloadBytesPerSecond) = (100, 1_000)
        expectEqual(traffic(), expected)
        expectEqual(traffic("quiet"), AppTrafficDocument())
        // A gateway that has left takes nothing along, and one that tells nothing leaves all unknown.
        seen.heard(figures(of: "g2", at: 98_000, ["tasks": later], isStaying: false), at: 10_000)
        expectEqual(traffic()?.sessions, 3)
        seen.heard(figures(of: "old", at: 1, nil), at: 10_000)
        expectTrue(traffic() == nil)
    }

    @Test func anAppBeyondThoseThatAGatewayTellsOfIsNotKnown() {
        var seen = ClusterFigures()
        let many = (0..<GatewayFigures.mostApps).map { ("app\($0)", AppFigures(sessions: 1)) }
        seen.heard(figures(of: "g1", at: 1, Dictionary(uniqueKeysWithValues: many)), at: 1_000)
        expectEqual(seen.traffic(of: "app7", at: 1_000)?.sessions, 1)
        expectTrue(seen.traffic(of: "other", at: 1_000) == nil)
    }

    @Test func figuresAddUpOverWorkersAndGateways() {
        var figures = ClusterFigures()
        func worker(_ name: String, _ changesets: UInt64) -> HeartbeatMessage {
            HeartbeatMessage(
                worker: name, at: 1, owns: [], standsBy: [], epochs: [:],
                totals: WorkerTotals(changesets: changesets, commits: changesets / 10, errors: 0), load: 0,
                isStaying: true)
        }
        func gateway(_ name: String, sessions: Int, errors: UInt64, isStaying: Bool = true) -> GatewayFigures {
            GatewayFigures(
                gateway: name, at: 1, connections: sessions, sessions: sessions, changesets: 0, errors: errors,
                isStaying: isStaying)
        }
        figures.heard(worker("w1", 0), at: 1_000)
        figures.heard(worker("w2", 500), at: 1_000)
        figures.heard(gateway("g1", sessions: 3, errors: 1), at: 1_000)
        figures.heard(worker("w1", 100), at: 2_000)
        figures.heard(worker("w2", 520), at: 2_000)
        figures.heard(gateway("g1", sessions: 5, errors: 4), at: 2_000)
        figures.heard(gateway("g2", sessions: 2, errors: 0), at: 2_000)
        expectEqual(figures.gateways(at: 2_000), 2)
        expectEqual(figures.take(at: 2_000), .init(changesets: 120, commits: 12, errors: 3, sessions: 7))
        var loaded = gateway("g1", sessions: 5, errors: 4)
        loaded.unacknowledged = ["tasks": 40_000]
        figures.heard(loaded, at: 2_000)
        loaded.gateway = "g2"
        figures.heard(loaded, at: 2_000)
        expectEqual(figures.unacknowledgedBytes(of: "tasks", at: 2_000), 80_000)
        expectEqual(figures.unacknowledgedBytes(of: "other", at: 2_000), 0)
        figures.heard(gateway("g1", sessions: 5, errors: 4), at: 2_000)
        expectEqual(figures.unacknowledgedBytes(of: "tasks", at: 2_000), 40_000)
        figures.heard(gateway("g2", sessions: 2, errors: 0, isStaying: false), at: 3_000)
        expectEqual(figures.take(at: 3_000).sessions, 5)
        expectEqual(figures.take(at: 2_000 + ClusterView.silence).sessions, 0)
        for number in 0...ClusterFigures.maxSources {
            figures.heard(gateway("many-\(number)", sessions: 1, errors: 0), at: 50_000 + UInt64(number) / 1_000)
        }
        expectEqual(figures.gateways(at: 50_001), ClusterFigures.maxSources)
    }

    @Test func anHourIsKeptAndNoMore() throws {
        var history = ClusterHistory()
        for step in 0..<500 {
            let now = UInt64(step) * ClusterHistory.step + 1
            let slices = [slice(0, epoch: UInt64(step), ready: step), slice(1, owner: nil)]
            history.look(at: slices, now: now)
            expectTrue(history.isDue(at: now))
            history.add(.init(changesets: 50), slices, at: now)
            expectTrue(!history.isDue(at: now + ClusterHistory.step - 1))
        }
        expectEqual(history.points.count, ClusterHistory.points)
        let last = try #require(history.points.last)
        expectTrue(last.changesets == 5 && last.waiting == 499)
        let points = history.points(of: SliceNumber(0))
        expectEqual(points.count, ClusterHistory.slicePoints)
        expectEqual(points.last.map { $0.at - points[0].at }, 3_570_000)
        expectEqual(points.map(\.ready), points.map { Int($0.at / ClusterHistory.step) })
        // The most of each two points; the newest last, of which there may be no second one.
        let strips = history.strips(of: try #require(SliceCount(2)))
        expectTrue(strips.map(\.count) == [60, 60] && strips[0].suffix(2) == [points[117].ready, points[119].ready])
        expectEqual(history.owners(of: SliceNumber(0)).count, ClusterHistory.ownings)
        expectEqual(history.owners(of: SliceNumber(0)).first?.epoch, 499)
        // That nobody has been heard yet is no change.
        expectTrue(history.owners(of: SliceNumber(1)).isEmpty)
        // A clock that is put back: the plot begins anew there and does not stand still.
        expectTrue(history.isDue(at: 5))
    }

    @Test func aDayIsKeptInFewerPoints() throws {
        var history = ClusterHistory()
        let perPoint = Int(ClusterHistory.dayStep / ClusterHistory.step)
        for step in 0..<(perPoint * (ClusterHistory.dayPoints + 12)) {
            let isBusy = step % perPoint == 3
            history.add(
                .init(changesets: isBusy ? 3_000 : 0, sessions: isBusy ? 9 : 2), [slice(0, ready: isBusy ? 70 : 0)],
                at: UInt64(step) * ClusterHistory.step + 1)
        }
        expectEqual(history.day.count, ClusterHistory.dayPoints)
        let last = try #require(history.day.last)
        // The busy one of thirty points had 300 a second; what stood highest is not evened out.
        expectTrue(last.changesets == 10 && last.sessions == 9 && last.waiting == 70, "\(last)")
        expectEqual(last.at - history.day[0].at, UInt64(ClusterHistory.dayPoints - 1) * ClusterHistory.dayStep)
        // A clock that is put back begins the day anew.
        history.add(.init(), [], at: 5)
        expectTrue(history.day.isEmpty)
    }

    @Test func incomingMessagesAreBacklogGrowthPlusMessagesHandled() {
        var history = ClusterHistory()
        history.look(at: [slice(0, ready: 100, rate: 10)], now: 10_000)
        expectTrue(history.inPerSecond(of: SliceNumber(0)) == nil)
        history.look(at: [slice(0, ready: 150, rate: 10)], now: 20_000)
        expectEqual(history.inPerSecond(of: SliceNumber(0)), 15)
        history.look(at: [slice(0, ready: 0, rate: 2)], now: 30_000)
        expectEqual(history.inPerSecond(of: SliceNumber(0)), 0)
    }

    @Test func healthIsSaidInWords() {
        var picture = OverviewDocument(coordinator: "c1", active: true, at: 10_000_000, slices: 2)
        picture.campaignsRunning = 2
        picture.deadLetters = 0
        var busy = slice(0)
        busy.oldestAt = 9_999_600
        Health.describe(&picture, [busy, slice(1)], isBrokerUp: true)
        expectEqual(picture.sentence, "all 2 slices served, oldest message 0.4 s, 2 campaigns running")
        expectTrue(picture.findings.isEmpty)
        busy.oldestAt = 10_000_000 - 3_600_000
        picture.deadLetters = 1
        picture.campaignsRunning = 0
        var holding = slice(1, owner: nil)
        holding.heldResets = [.init(app: "tasks", asked: 5, clientFiles: 6, since: 1)]
        Health.describe(&picture, [busy, holding], isBrokerUp: true)
        expectEqual(picture.sentence, "1 of 2 slices served, oldest message 60 min, no campaign running")
        picture.campaignsRunning = nil
        Health.describe(&picture, [busy, holding], isBrokerUp: true, storeObstacle: "connection refused")
        expectEqual(picture.sentence, "1 of 2 slices served, oldest message 60 min, campaigns not known")
        expectEqual(picture.findings.first?.text, "the store is away: connection refused")
        Health.describe(&picture, [busy, holding], isBrokerUp: false)
        // Figures that were heard before the outage are not those of now.
        expectTrue(picture.slicesServed == nil && picture.waiting == nil && picture.oldest == nil)
        expectEqual(picture.sentence, "the broker is away: how slices and queues stand is not known")
        expectEqual(
            picture.findings.map(\.text),
            [
                "the broker is away, or blocks publishers", "1 slice has no owner: 1",
                "1 slice is behind by more than 30 s: 0", "resets of tasks wait for your permission", "1 dead letter",
            ])
        expectEqual(picture.findings.map(\.level), [.fault, .fault, .warning, .warning, .warning])
    }

    @Test func whatProcessesSayOfThemselvesIsAmongTheFindings() {
        func process(_ role: ProcessDocument.Role, _ id: String, _ state: ProcessDocument.State) -> ProcessDocument {
            var process = ProcessDocument(role, id, lastHeardAt: 1)
            process.state = state
            return process
        }
        var full = process(.worker, "w1", .notReady)
        full.notReady = ["worker.store: the disk is full", "worker.slices: slice 0 waits"]
        let processes = [
            process(.coordinator, "c2", .notReady), full, process(.worker, "w2", .silent),
            process(.gateway, "g1", .ready),
            process(.gateway, "g2", .notReady),
        ]
        let clocks = ["w3": 9.9, "g1": -1.9]
        var picture = OverviewDocument(coordinator: "c1", active: true, at: 10_000_000, slices: 1)
        Health.describe(&picture, [slice(0)], isBrokerUp: true, processes: processes, clocks: clocks)
        expectEqual(
            picture.findings.map(\.text),
            [
                "worker w2 is silent, and did not say goodbye",
                "worker w1 is not ready, and 1 other likewise: worker.store: the disk is full",
                "clocks are off from the coordinator's: w3 (10 s)",
            ])
        expectEqual(
            picture.findings.map(\.alert), ["SluiceProcessDown", "SluiceNotReady", "SluiceClockOff"])
        expectTrue(picture.findings.allSatisfy { $0.level == .warning })
        // What the store's or the broker's absence does to all of them is one finding.
        Health.describe(
            &picture, [slice(0)], isBrokerUp: true, storeObstacle: "connection refused", processes: processes,
            clocks: clocks)
        expectTrue(!picture.findings.contains { $0.text.contains("not ready") })
        Health.describe(&picture, [slice(0)], isBrokerUp: false, processes: processes, clocks: clocks)
        expectEqual(picture.findings.count, 1)
    }
}

@Suite(.needsBroker, .hangGuard) struct PictureRoutesTests {
    @Test func reportsOfWorkersAndGatewaysAreInThePicture() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                try await eventually { coordinator.isServing }
                try await eventually("the picture shows worker and gateway") {
                    try await harness.channel.publish(
                        try AMQPMessage(
                            GatewayFigures(
                                gateway: "g1", at: 1, connections: 4, sessions: 7, changesets: 1, errors: 0,
                                isStaying: true)),
                        exchange: harness.topology.outcomes, routingKey: Topology.figuresKey, mandatory: false)
                    try await harness.publish(
                        HeartbeatMessage(
                            worker: "w1", at: 1, owns: Array(harness.slices.all), standsBy: [],
                            epochs: Dictionary(uniqueKeysWithValues: harness.slices.all.map { ($0.description, 3) }),
                            totals: WorkerTotals(changesets: 5),
                            activity: [
                                SliceActivity(
                                    slice: SliceNumber(0),
                                    realms: [
                                        .init(realm: RealmName(app: "tasks", partition: "\"nw\""), changesets: 3),
                                        .init(realm: RealmName(app: "flexible", partition: ""), changesets: 2),
                                    ], apps: [.init(app: "tasks", changesets: 4)],
                                    refusals: [.init(app: "tasks", merges: 1, quotas: 2)])
                            ], load: 1, isStaying: true),
                        to: harness.topology.presence, mandatory: false)
                    let overview = try await coordinator.request("GET", "cluster/overview")
                    return overview["workers"] == "1" && overview["gateways"] == "1"
                        && overview["slicesServed"] == "\(harness.slices.value)"
                }
                let one = try await coordinator.request("GET", "cluster/slices/0")
                expectTrue(one["slice.owner"] == "w1" && one["slice.epoch"] == "3")
                expectTrue(one["realms.0.partition"] == "\"nw\"" && one["realms.1.partition"] == "")
                expectTrue(one["apps.0.changesets"] == "4" && one["refusals.0.merges"] == "1")
                let strips = try await coordinator.request("GET", "cluster/history?slices=true")
                expectTrue(strips["strips.\(harness.slices.value - 1)"] != nil)
                try await expectTrue(coordinator.request("GET", "cluster/history")["strips"] == nil)
                let day = try await coordinator.execute("GET", "cluster/history?day=true")
                try await expectTrue(String(buffer: day.body.collect(upTo: 1 << 20)).contains(#""day":["#))
                try await expectEqual(coordinator.request("GET", "cluster/slices/\(harness.slices.value)").status, 404)
                try await expectEqual(coordinator.request("GET", "cluster/slices/x").status, 404)
                try await expectTrue(coordinator.request("GET", "cluster/history")["points.0.at"] != nil)
                let stream = try await coordinator.execute("GET", "cluster/events?slices=true")
                var text = ""
                for try await chunk in stream.body {
                    text += String(buffer: chunk)
                    if text.contains("\n") { break }
                }
                expectTrue(text.contains(#""slicesServed":"#) && text.contains(#""slices":[{"#))
            }
        }
    }
}
