import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite struct StoreDoctorTests {
    private func findings(_ realm: StoredRealm) async throws -> [Diagnosis] {
        let slices = try #require(SliceCount(1))
        return await StoreDoctor(stores: realm.readers, slices: slices, checksIntegrity: false).examine().filter {
            $0.subject.hasPrefix("slice")
        }
    }

    @Test(
        arguments: [
            (UInt64(100) << 20, UInt64(1) << 40, Diagnosis.Level.fault), (1 << 30, 1 << 40, .warning),
            (3 << 30, 1 << 40, .ok),
            // A disk of 512 MiB is no fault because it is small.
            (200 << 20, 512 << 20, .ok), (40 << 20, 512 << 20, .warning), (10 << 20, 512 << 20, .fault), (0, 0, .ok),
        ] as [(UInt64, UInt64, Diagnosis.Level)])
    func howMuchRoomIsLittleDependsOnTheDisk(_ free: UInt64, _ size: UInt64, _ level: Diagnosis.Level) {
        expectEqual(StoreDoctor.level(free: free, of: size), level)
    }

    @Test func clientsWhoseTimesAreAheadAreNamed() async throws {
        let realm = try await StoredRealm()
        try await expectEqual(findings(realm).map(\.level), [.ok])
        // A time that has come meanwhile is no matter any more.
        try await realm.commit { $0.clientFiles = [realm.clientFile { $0.ahead = 1 }] }
        try await expectEqual(findings(realm).map(\.level), [.ok])
        try await realm.commit { $0.clientFiles = [realm.clientFile { $0.ahead = SyncTimestamp(.max) }] }
        let warning = try #require(try await findings(realm).first { $0.level == .warning })
        expectTrue(warning.finding.contains("client file 2 of user u1") && warning.finding.contains("tasks"))
    }
}
