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
