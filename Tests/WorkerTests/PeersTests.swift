import Messages
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite struct PeersTests {
    private let slices = (0..<64).map(SliceNumber.init)

    private func heartbeat(_ worker: String, standsBy: [SliceNumber] = [], isStaying: Bool = true) -> HeartbeatMessage {
        HeartbeatMessage(
            worker: worker, at: 0, owns: [], standsBy: standsBy, epochs: [:], load: 0, isStaying: isStaying)
    }

    @Test func aLoneWorkerIsFirstForEverything() {
        let peers = Peers(own: "a", patience: 100)
        expectTrue(slices.allSatisfy { peers.role(in: $0, at: 0) == .first })
        expectTrue(slices.allSatisfy { !peers.canHandOver($0, at: 0) })
    }

    @Test func everySliceHasOneFirstAndOneSecondAmongThree() {
        let names = ["a", "b", "c"]
        let views = names.map { own in
            var peers = Peers(own: own, patience: 100)
            for name in names { peers.heard(heartbeat(name), at: 0) }
            return peers
        }
        for slice in slices {
            let roles = views.map { $0.role(in: slice, at: 50) }
            expectEqual(roles.count { $0 == .first }, 1)
            expectEqual(roles.count { $0 == .second }, 1)
        }
        for view in views { expectTrue(slices.contains { view.role(in: $0, at: 50) == .first }) }
    }

    @Test func aSilentOrLeavingPeerCountsNoMore() {
        var peers = Peers(own: "a", patience: 100)
        peers.heard(heartbeat("b"), at: 0)
        expectEqual(peers.living(at: 99).sorted(), ["a", "b"])
        expectEqual(peers.living(at: 100), ["a"])
        peers.heard(heartbeat("b"), at: 200)
        peers.heard(heartbeat("b", isStaying: false), at: 201)
        expectEqual(peers.living(at: 201), ["a"])
    }

    @Test func aSliceIsHandedOverOnlyToWhoAlreadyStandsBy() {
        var peers = Peers(own: "a", patience: 100)
        peers.heard(heartbeat("b"), at: 0)
        guard let slice = slices.first(where: { peers.role(in: $0, at: 0) == .second }) else {
            Issue.record("b is first for none of the slices")
            return
        }
        expectTrue(!peers.canHandOver(slice, at: 0))
        peers.heard(heartbeat("b", standsBy: [slice]), at: 0)
        expectTrue(peers.canHandOver(slice, at: 0))
    }
}
