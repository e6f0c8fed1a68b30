import AMQP
import Messages
import Operations
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Coordinator

@Suite(.needsBroker, .hangGuard) struct PlanTests {
    /// Client realms of an app in the slices' stores, as workers write them.
    private func fill(_ harness: CoordinatorHarness, now: UInt64) async throws {
        let stores = SQLiteStores(folder: harness.folder)
        let name = RealmName(app: "tasks", partition: "\"nw\"")
        let store = try await stores.store(for: name.slice(of: harness.slices))
        guard case .owned(let epoch) = try await store.claim(by: "w", now: 1, leaseUntil: 1 << 60, gone: nil) else {
            return
        }
        var batch = SliceBatch()
        batch.realms = [
            RealmRecord(
                id: RealmID(1), name: name, generation: 1, latest: SaltedServerVersion(version: 9, salt: 1), salt: 1,
                saltEpoch: epoch, nextIdent: 20),
            RealmRecord(
                id: RealmID(2), name: RealmName(app: "other", partition: "\"nw\""), generation: 1, salt: 1,
                saltEpoch: epoch),
        ]
        let files: [(FileIdent, ClientFileRecord.State, ClientVersion, UInt64, Int64)] = [
            (2, .live, 5, 10_000, 1), (3, .live, 0, 10_000, 1), (4, .live, 7, 90_000_000, 1),
            (5, .resetRequired, 7, 10_000, 1), (6, .superseded, 7, 10_000, 1), (7, .expired, 7, 10_000, 1),
            (8, .live, 7, 10_000, 2),
        ]
        batch.clientFiles = files.map { ident, state, uploaded, silent, realm in
            ClientFileRecord(
                realm: RealmID(realm), file: ClientFileIdent(ident: ident, salt: 5), user: "u\(ident)", generation: 1,
                state: state, campaign: state == .resetRequired ? "c" : nil,
                upload: UploadCursor(clientVersion: uploaded, serverVersion: 1), seenServerVersion: 4, createdAt: 1,
                lastSeen: now - silent, connection: "c", protocolVersion: 10,
                userAgent: ident == 3 ? "\u{1b}[2J" : "RealmSwift/10.50.0 (iOS 17)")
        }
        try await store.commit(batch, epoch: epoch)
    }

    @Test func aPlanCountsWhomATerminationWouldReset() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await fill(harness, now: WallClock.system.now())
            try await harness.withCoordinator { coordinator in
                let plan = try await coordinator.request("GET", "apps/tasks/termination-plan?limit=2")
                expectEqual(plan.status, 200, "\(plan.text)")
                expectTrue(plan["clientRealms"] == "3" && plan["writers"] == "2" && plan["alreadyResetting"] == "1")
                expectTrue(plan["realms"] == "1" && plan["offlineWriters"] == "1")
                expectTrue(plan["lastSeen.0.clientRealms"] == "2" && plan["lastSeen.3.writers"] == "1")
                expectTrue(
                    plan["platforms.0.platform"] == "RealmSwift/10.50.0" && plan["platforms.1.platform"] == "unknown")
                // Writers that were not seen for longest come first; only as many as asked for.
                expectTrue(plan["listed.0.clientFile"] == "4" && plan["listed.0.behind"] == "5")
                expectTrue(plan["listed.1.clientFile"] == "2" && plan["listed.2.clientFile"] == nil)
                expectTrue(!plan.text.contains("salt"))
                try await expectTrue(harness.store.campaigns(app: nil, after: nil, limit: 10).isEmpty)
            }
        }
    }

    @Test func bytesThatGatewaysHoldCountAsUnsynced() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                try await expectEqual(coordinator.request("GET", "apps/tasks/termination-plan")["unsyncedBytes"], "0")
                try await eventually {
                    try await harness.channel.publish(
                        try AMQPMessage(
                            GatewayFigures(
                                gateway: "g1", at: 1, connections: 1, sessions: 1, changesets: 1, errors: 0,
                                unacknowledged: ["tasks": 40_960, "other": 7], isStaying: true)),
                        exchange: harness.topology.outcomes, routingKey: Topology.figuresKey, mandatory: false)
                    return try await coordinator.request("GET", "apps/tasks/termination-plan")["unsyncedBytes"]
                        == "40960"
                }
            }
        }
    }

    @Test func aSlicesOwnersAreThoseThatItsStoreRemembers() async throws {
        try await CoordinatorHarness.with { harness in
            let name = RealmName(app: "tasks", partition: "\"nw\"")
            let slice = name.slice(of: harness.slices).value
            try await harness.withCoordinator { coordinator in
                try await expectTrue(coordinator.request("GET", "cluster/slices/\(slice)/owners")["owners.0"] == nil)
                try await harness.makeRealm(name)
                let owners = try await coordinator.request("GET", "cluster/slices/\(slice)/owners")
                expectEqual(owners["owners.0.worker"], "w")
                expectEqual(owners["owners.0.epoch"], "1")
                expectTrue(owners["owners.0.how"] == "claimed" && owners["owners.0.takenAt"] == "1")
                try await expectEqual(coordinator.request("GET", "cluster/slices/99/owners").status, 404)
            }
        }
    }

    @Test func anAppShowsWhatItsClientsDo() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                try await eventually {
                    try await harness.channel.publish(
                        try AMQPMessage(
                            GatewayFigures(
                                gateway: "g1", at: 1, connections: 1, sessions: 3, changesets: 1, errors: 0,
                                apps: ["tasks": AppFigures(sessions: 3)], isStaying: true)),
                        exchange: harness.topology.outcomes, routingKey: Topology.figuresKey, mandatory: false)
                    return try await coordinator.request("GET", "apps/tasks")["traffic.sessions"] == "3"
                }
                try await expectEqual(coordinator.request("GET", "apps")["apps.0.traffic.sessions"], "3")
            }
        }
    }

    @Test func slicesWithoutAnOwnerAreSaidNotToBeKnown() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.store.insert(AppRecord(id: "tasks", createdAt: 1))
            try await harness.withCoordinator { coordinator in
                let plan = try await coordinator.request("GET", "apps/tasks/termination-plan")
                expectTrue(plan["waiting.unknownSlices.1"] == "1" && plan["clientRealms"] == "0")
                try await expectEqual(coordinator.request("GET", "apps/none/termination-plan").status, 404)
                try await expectEqual(coordinator.request("GET", "apps/tasks/termination-plan?limit=x").status, 400)
            }
        }
    }

    @Test func readinessSaysWhichSliceNobodyOwns() async throws {
        try await CoordinatorHarness.with { harness in
            try await harness.withCoordinator { coordinator in
                func beat(owns: [Int], isStaying: Bool = true) async throws {
                    let heartbeat = HeartbeatMessage(
                        worker: "w1", at: WallClock.system.now(), owns: owns.map { SliceNumber($0) }, standsBy: [],
                        epochs: [:], load: 0, isStaying: isStaying)
                    try await harness.publish(heartbeat, to: harness.topology.presence, mandatory: false)
                }
                func slices() -> String? {
                    coordinator.readiness.component("coordinator.slices").map { "\($0.ready) \($0.reason)" }
                }
                try await eventually {
                    try await beat(owns: [0])
                    return slices() == "false 1 without an owner: 1"
                }
                try await eventually {
                    try await beat(owns: [0, 1])
                    return slices() == "true all have an owner" && coordinator.readiness.isReady
                }
                try await eventually {
                    try await beat(owns: [], isStaying: false)
                    return slices()?.hasPrefix("false 2 without an owner") == true
                }
            }
        }
    }
}
