import Messages
import Storage
import StorageSQLite
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Clients that date their changes far ahead are known: what they write wins every conflict.
@Suite struct AheadTimeTests {
    @Test func onlyTimesMoreThanADayAheadCount() {
        let day = AheadTime.patience
        func ahead(_ times: [UInt64], at now: UInt64 = 1_000) -> AheadTime {
            AheadTime(times.map { SyncTimestamp($0) }, at: SyncTimestamp(now))
        }
        expectTrue(ahead([]).latest == nil && ahead([0, 1_000, 1_000 + day]).count == 0)
        let found = ahead([5, 1_001 + day, .max, 2_000 + day])
        expectTrue(found.count == 3 && found.latest == SyncTimestamp(.max))
        // Nothing is ahead of a clock that stands at the end of time.
        expectEqual(ahead([.max], at: .max).count, 0)
    }

    @Test func theClientFileSaysSoUntilItsClockIsRight() async throws {
        let harness = try await OwnerHarness.make()
        let file = try await harness.join(session: 1)
        func record() async throws -> ClientFileRecord {
            let key = ClientFileKey(realm: try await harness.record().id, ident: file.ident)
            return try #require(try await harness.store.clientFile(key))
        }
        let now = SyncTimestamp(unixMilliseconds: Int64(harness.time.now()))
        try await harness.send(harness.upload(file, timestamp: now, [Changes.schema()]))
        try await expectTrue(record().ahead == nil)
        let far = SyncTimestamp(now.rawValue + 400 * AheadTime.patience)
        try await harness.send(harness.upload(file, follows: 1, timestamp: far, [Changes.create(1)]))
        try await expectEqual(record().ahead, far)
        // As it was given: author and server merge by the same time.
        let history = try await harness.store.history(
            of: HistoryKey(realm: harness.record().id, generation: 1), after: 1, through: 2, maxBytes: .max)
        expectEqual(history.first?.entry.timestamp, far)
        try await harness.send(harness.upload(file, follows: 2, timestamp: now, [Changes.create(2)]))
        try await expectTrue(record().ahead == nil)
    }
}
