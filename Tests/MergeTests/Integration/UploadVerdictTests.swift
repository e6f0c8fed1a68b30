import Merge
import SyncModel
import TestSupport
import Testing

struct UploadVerdictTests {
    private let recorded = ClientFileProgress(
        upload: UploadCursor(clientVersion: 4, serverVersion: 6), lockedServerVersion: 6)

    private func cursor(_ client: ClientVersion, _ server: ServerVersion) -> UploadCursor {
        UploadCursor(clientVersion: client, serverVersion: server)
    }

    private func verdict(
        after follows: ClientVersion = 4, _ entries: [UploadCursor], upTo progress: UploadCursor,
        locked: ServerVersion = 8, latest: ServerVersion = 10, kept: ServerVersion = 0
    ) -> UploadVerdict {
        recorded.verdict(
            on: UploadHead(follows: follows, progress: progress, lockedServerVersion: locked), entries: entries,
            latest: latest, kept: kept)
    }

    @Test func uploadAfterTheRecordedProgressIsNew() {
        expectEqual(verdict([cursor(5, 6), cursor(7, 8)], upTo: cursor(7, 8)), .integrate(from: 0))
        expectEqual(verdict([], upTo: cursor(9, 9)), .integrate(from: 0))
    }

    @Test func recordedEntriesAreLeftOut() {
        expectEqual(
            verdict(after: 2, [cursor(3, 4), cursor(4, 6), cursor(5, 6)], upTo: cursor(5, 6)), .integrate(from: 2))
        expectEqual(verdict(after: 2, [cursor(3, 4), cursor(4, 6)], upTo: cursor(4, 6)), .integrate(from: 2))
    }

    @Test func aGapMakesTheClientUploadAgain() {
        guard case .retry(let reason) = verdict(after: 5, [cursor(6, 6)], upTo: cursor(6, 6)) else {
            Issue.record("a gap was not noticed")
            return
        }
        expectEqual(reason, "the upload follows client version 5, and 4 is the last one here")
    }

    @Test(
        arguments: [
            ([(5, 6), (5, 6)], (5, 6), ErrorCode.badClientVersion), ([(0, 0)], (5, 6), .badClientVersion),
            ([(6, 6)], (5, 6), .badClientVersion), ([(5, 8), (6, 7)], (6, 8), .badServerVersion),
            ([(5, 8)], (6, 7), .badServerVersion), ([(5, 7)], (5, 8), .badServerVersion),
        ] as [([(UInt64, UInt64)], (UInt64, UInt64), ErrorCode)])
    func cursorsThatCannotBeOneClientsWayCostAReset(
        entries: [(UInt64, UInt64)], progress: (UInt64, UInt64), code: ErrorCode
    ) {
        let cursors = entries.map { cursor(ClientVersion($0.0), ServerVersion($0.1)) }
        let verdict = verdict(cursors, upTo: cursor(ClientVersion(progress.0), ServerVersion(progress.1)))
        guard case .reset(code, _) = verdict else {
            Issue.record("expected \(code), got \(verdict)")
            return
        }
    }

    @Test func versionsThatTheRealmDoesNotHaveCostAReset() {
        for (progress, locked) in [(cursor(5, 11), 8), (cursor(5, 6), 11)] as [(UploadCursor, ServerVersion)] {
            guard case .reset(.badServerVersion, let reason) = verdict([], upTo: progress, locked: locked) else {
                Issue.record("\(progress) with \(locked) was taken")
                continue
            }
            expectEqual(reason, "an upload names server version 11; 10 is the latest")
        }
    }

    @Test func aBaseBeforeTheRecordedOneCannotBeMergedAnyMore() {
        guard case .reset(.badServerVersion, _) = verdict([cursor(5, 5)], upTo: cursor(5, 5)) else {
            Issue.record("a base before the recorded one was taken")
            return
        }
    }

    @Test func aBaseInTheCompactedHistoryCostsAReset() {
        expectEqual(verdict([cursor(5, 7)], upTo: cursor(5, 7), kept: 7), .integrate(from: 0))
        guard case .reset(.clientFileExpired, _) = verdict([cursor(5, 6)], upTo: cursor(5, 6), kept: 7) else {
            Issue.record("a compacted base was taken")
            return
        }
        // What is recorded already needs no history.
        expectEqual(verdict(after: 2, [cursor(4, 6)], upTo: cursor(4, 6), kept: 7), .integrate(from: 1))
    }
}
