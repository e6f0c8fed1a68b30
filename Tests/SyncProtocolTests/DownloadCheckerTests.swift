import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// What a client checks in a DOWNLOAD, and a gateway before it sends one (docs/protocol.md, "What the client checks").
@Suite struct DownloadCheckerTests {
    private static func entry(
        _ server: ServerVersion, _ client: ClientVersion = 4, origin: FileIdent = 9
    ) -> HistoryEntry {
        HistoryEntry(
            serverVersion: server, clientVersion: client, originFile: origin, timestamp: 1, changeset: [1])
    }

    /// The checker after (20, 4), latest 25, upload (6, 18), of file 5, which has 9 versions.
    private static func checker(_ role: DownloadChecker.Role = .sending) -> DownloadChecker {
        DownloadChecker(
            role: role, file: 5,
            progress: SyncProgress(
                download: DownloadCursor(serverVersion: 20, clientVersion: 4),
                latest: SaltedServerVersion(version: 25, salt: 3),
                upload: UploadCursor(clientVersion: 6, serverVersion: 18)), newestClientVersion: 9)
    }

    private static func download(
        _ server: ServerVersion = 22, _ client: ClientVersion = 5, latest: ServerVersion = 25,
        up: (ClientVersion, ServerVersion) = (6, 18), entries: [HistoryEntry] = []
    ) -> Download {
        Download(
            session: 1,
            progress: SyncProgress(
                download: DownloadCursor(serverVersion: server, clientVersion: client),
                latest: SaltedServerVersion(version: latest, salt: 3),
                upload: UploadCursor(clientVersion: up.0, serverVersion: up.1)),
            detail: .partition(downloadableBytes: 0), entries: entries)
    }

    @Test(arguments: [
        download(), download(20, 4), download(25, 6, up: (9, 22)), download(entries: [entry(21), entry(22, 5)]),
        // Not yet known to the server which version it had seen.
        download(up: (6, 0)),
    ])
    func downloadMovingForwardPasses(_ download: Download) throws {
        var checker = Self.checker()
        try checker.check(download)
        expectEqual(checker.progress, download.progress)
    }

    @Test(arguments: [
        // 1: never decreasing.
        download(19), download(22, 3), download(latest: 24), download(22, 4, up: (5, 18)), download(up: (6, 17)),
        // 2: beyond the client's history.
        download(up: (10, 18)),
        // 3: among themselves.
        download(26), download(22, 7), download(up: (6, 23)),
        // 4: serverVer of the entries.
        download(entries: [entry(20)]), download(entries: [entry(22), entry(21)]),
        download(entries: [entry(21), entry(21)]),
        download(entries: [entry(23)]), download(entries: [entry(0)]),
        // 5: clientVer of the entries.
        download(entries: [entry(21, 3)]), download(entries: [entry(21, 5), entry(22, 4)]),
        download(entries: [entry(21, 6)]),
        // 6: origin.
        download(entries: [entry(21, origin: 5)]), download(entries: [entry(21, origin: 0)]),
        // This DOWNLOAD is of the other mode.
        Download(
            session: 1, progress: checker().progress,
            detail: .flexible(FlexibleBatch(queryVersion: 0, state: .steadyState, progress: 1))),
    ])
    func downloadBreakingARuleIsRefusedAndChangesNothing(_ download: Download) {
        for role in [DownloadChecker.Role.sending, .receiving] {
            var checker = Self.checker(role)
            let before = checker
            #expect { try checker.check(download) } throws: {
                ($0 as? SyncProtocolError)?.fault == (role == .sending ? .sending : .received)
            }
            expectEqual(checker, before)
        }
    }

    @Test func decreasingUploadServerVersionIs233() {
        var checker = Self.checker()
        #expect { try checker.check(Self.download(up: (6, 17))) } throws: {
            ($0 as? SyncProtocolError)?.code == .badProgress
        }
    }

    // MARK: Flexible

    private static func flexible(_ role: DownloadChecker.Role, version: ProtocolVersion = .maximum) -> DownloadChecker {
        DownloadChecker(
            role: role, file: 5, progress: SyncProgress(), newestClientVersion: 9, activeQueryVersion: 1,
            version: version)
    }

    private static func batch(
        _ query: QueryVersion, _ state: BatchState, at version: ServerVersion = 30, entries: Int = 1
    ) -> Download {
        Download(
            session: 1,
            progress: SyncProgress(
                download: DownloadCursor(serverVersion: version),
                latest: SaltedServerVersion(version: version, salt: 3)),
            detail: .flexible(FlexibleBatch(queryVersion: query, state: state, progress: 1)),
            entries: (0..<entries).map { _ in entry(version, 0) })
    }

    @Test func aBootstrapInBatchesMovesTheCursorsAtItsEnd() throws {
        var checker = Self.flexible(.sending)
        try checker.check(Self.batch(2, .moreToCome))
        expectEqual(checker.progress.download.serverVersion, 0)
        expectTrue(checker.isBootstrapping)
        try checker.check(Self.batch(2, .lastInBatch))
        expectEqual(checker.progress.download.serverVersion, 30)
        expectEqual(checker.activeQueryVersion, 2)
        try checker.check(Self.batch(2, .steadyState, at: 31, entries: 0))
    }

    @Test func theSetInForceMayBeSentAnewFromVersion14On() throws {
        var checker = Self.flexible(.sending)
        try checker.check(Self.batch(1, .lastInBatch))
        var old = Self.flexible(.sending, version: ProtocolVersion(13))
        // Steady state, to such a build.
        try old.check(Self.batch(1, .lastInBatch))
        #expect(throws: SyncProtocolError.self) { try old.check(Self.batch(1, .moreToCome)) }
    }

    @Test func aBootstrapWithoutEntriesIsRefused() {
        for role in [DownloadChecker.Role.sending, .receiving] {
            var checker = Self.flexible(role)
            #expect(throws: SyncProtocolError.self) { try checker.check(Self.batch(2, .lastInBatch, entries: 0)) }
        }
    }

    @Test func aSupersededSetIsNeverUsedAgain() throws {
        var checker = Self.flexible(.receiving)
        try checker.check(Self.batch(3, .lastInBatch))
        #expect(throws: SyncProtocolError.self) { try checker.check(Self.batch(2, .lastInBatch, at: 31)) }
    }

    @Test func batchesOfASetHangTogetherWhenSent() throws {
        var checker = Self.flexible(.sending)
        try checker.check(Self.batch(2, .moreToCome))
        #expect(throws: SyncProtocolError.self) { try checker.check(Self.batch(1, .steadyState)) }
        #expect(throws: SyncProtocolError.self) { try checker.check(Self.batch(3, .lastInBatch)) }
        try checker.check(Self.batch(2, .lastInBatch, entries: 0))
    }

    @Test func steadyStateBelongsToTheSetInForceWhenSent() {
        var checker = Self.flexible(.sending)
        #expect(throws: SyncProtocolError.self) { try checker.check(Self.batch(2, .steadyState)) }
    }
}
