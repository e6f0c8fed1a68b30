import DeviceSync
import Foundation
import LocalCluster
import TestSupport
import Testing

extension SharedClusterTests {
    /// What devices and backends do, told to an operator's shell on a real cluster.
    @Suite struct ChangeFollowTests {
        @Test func aShellIsToldWhatWasThereAndWhatIsDoneSince() async throws {
            let cluster = try SharedCluster.cluster
            try await cluster.makeApp()
            let device = try await Device(cluster)
            try device.create("a", name: "pen", stock: 5)
            try await device.upload()
            await #expect(throws: (any Error).self) {
                _ = try await cluster.operate(["changes", "follow", cluster.app])
            }
            _ = try await cluster.operate(["apps", "set", cluster.app, "--change-feed", "documents"])
            let follow = ["changes", "follow", cluster.app, "--class", "Item", "--from", "start", "--json"]
            // A feed that was just turned on is not told from the start for some seconds.
            try await eventually {
                (try? await cluster.operate(follow + ["--count", "1"])) != nil
            }
            async let told = cluster.operate(follow + ["--count", "2"])
            try device.create("b", name: "ink", stock: 1)
            try await device.upload()
            let lines = try await told.split(separator: "\n").filter {
                $0.contains(#""event":"document""#) || $0.contains(#""event":"change""#)
            }
            expectEqual(lines.count, 2)
            expectTrue(lines.first?.contains(#""_id":"a""#) == true, "\(lines)")
            expectTrue(lines.last?.contains(#""_id":"b""#) == true, "\(lines)")
        }
    }
}
