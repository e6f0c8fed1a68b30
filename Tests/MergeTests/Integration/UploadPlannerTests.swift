import Merge
import MergeConformance
import SyncModel
import TestSupport
import Testing

@Suite struct UploadPlannerTests {
    private let cursor = UploadCursor(clientVersion: 2, serverVersion: 3)

    private func ours(_ version: ClientVersion, _ size: Int = 100, at server: ServerVersion = 3) -> ClientHistoryEntry {
        ClientHistoryEntry(version: version, isLocal: true, size: size, serverVersion: server)
    }

    private func theirs(_ version: ClientVersion, at server: ServerVersion) -> ClientHistoryEntry {
        ClientHistoryEntry(version: version, isLocal: false, size: 0, serverVersion: server)
    }

    private func next(_ entries: [ClientHistoryEntry]) -> UploadPlanner.Batch? {
        UploadPlanner(after: cursor).next(entries)
    }

    @Test func ownNonEmptyEntriesAfterTheCursorAreSent() throws {
        let batch = try #require(
            next([ours(1), ours(2), ours(3), ours(4, 0), theirs(5, at: 6), ours(6, at: 6), ours(7, 0, at: 6)]))
        expectEqual(batch.versions, [3, 6])
        expectEqual(batch.progress, UploadCursor(clientVersion: 7, serverVersion: 6))
    }

    @Test func progressIsReportedEvenWithoutChangesets() throws {
        let batch = try #require(next([theirs(3, at: 7)]))
        expectTrue(batch.versions.isEmpty)
        expectEqual(batch.progress, UploadCursor(clientVersion: 3, serverVersion: 7))
    }

    @Test func nothingNewIsNothingToSay() {
        expectTrue(next([]) == nil)
        expectTrue(next([ours(1), ours(3, 0), theirs(4, at: 3)]) == nil)
    }

    @Test func anUploadEndsOnceItIsLargeEnough() throws {
        let size = UploadPlanner.softLimitBytes / 2
        let batch = try #require(next([ours(3, size), ours(4, size), ours(5, size)]))
        expectEqual(batch.versions, [3, 4])
        expectEqual(batch.progress.clientVersion, 4)
    }

    @Test func anUploadDoesNotExceedTheHardLimit() throws {
        let large = UploadPlanner.hardLimitBytes
        let batch = try #require(next([ours(3, 10), ours(4, 0), ours(5, large)]))
        expectEqual(batch.versions, [3])
        expectEqual(batch.progress.clientVersion, 4)
        try expectEqual(#require(next([ours(3, large + 1), ours(4)])).versions, [3])
        // With what each takes beside its bytes.
        let fitting = large - 10 - 2 * UploadPlanner.headBytes
        try expectEqual(#require(next([ours(3, 10), ours(5, fitting + 1)])).versions, [3])
        try expectEqual(#require(next([ours(3, 10), ours(5, fitting)])).versions, [3, 5])
    }

    @Test func historyIsTrimmedUpToTheFirstEntryThatMayStillBeMerged() {
        let entries = [ours(2), ours(3), theirs(4, at: 5), ours(5, 0), ours(6), theirs(7, at: 8)]
        expectEqual(HistoryTrimming.base(entries, downloadClientVersion: 3), 5)
        expectEqual(HistoryTrimming.base(entries, downloadClientVersion: 2), 2)
        expectEqual(HistoryTrimming.base(entries, downloadClientVersion: 6), 7)
        expectEqual(HistoryTrimming.base(entries, downloadClientVersion: 0), 0)
        expectEqual(HistoryTrimming.base([], downloadClientVersion: 9), 0)
    }
}
