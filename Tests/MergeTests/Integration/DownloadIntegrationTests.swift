import Changesets
import Merge
import SyncModel
import TestSupport
import Testing

struct DownloadIntegrationTests {
    private let engine = MergeEngine(compatibility: .convergent)
    private let stored = SyncProgress(
        download: DownloadCursor(serverVersion: 3, clientVersion: 2), latest: SaltedServerVersion(version: 3, salt: 7),
        upload: UploadCursor(clientVersion: 4, serverVersion: 2))

    private func x(_ value: Int64) -> Changeset { changeset([.set(.at("x"), .int(value))]) }

    private func message(uploadedAt version: ServerVersion = 3) -> SyncProgress {
        SyncProgress(
            download: DownloadCursor(serverVersion: 6, clientVersion: 4),
            latest: SaltedServerVersion(version: 8, salt: 7),
            upload: UploadCursor(clientVersion: 5, serverVersion: version))
    }

    @Test func itMeetsTheOwnWritesAfterItsOldestBase() throws {
        var integration = DownloadIntegration(
            message(),
            changesets: [
                incoming(x(1), version: 4, rank: 1, file: 9, base: 3),
                incoming(x(2), version: 6, rank: 2, file: 8, base: 4),
            ])
        expectEqual(integration.base, 3)
        try integration.merge(over: [local(x(3), version: 5, rank: 3, file: 2)], through: 6, using: engine)
        expectEqual(integration.changesets.map(\.changeset.isEmpty), [true, true])
        let outcome = integration.outcome(after: stored)
        expectEqual(outcome.progress, message())
        expectTrue(outcome.reciprocals.isEmpty)
        expectTrue(outcome.originTimestamp == 2 && outcome.originFile == 8)
    }

    @Test func mergedOwnWritesAreKeptAsReciprocals() throws {
        var integration = DownloadIntegration(
            message(), changesets: [incoming(x(1), version: 4, rank: 9, file: 9, base: 2)])
        try integration.merge(
            over: [local(x(3), version: 3, rank: 3, file: 2), local(x(4), version: 5, rank: 4, file: 2)], through: 5,
            using: engine)
        expectEqual(integration.changesets.map(\.changeset), [x(1)])
        let reciprocals = integration.outcome(after: stored).reciprocals
        expectTrue(reciprocals.map(\.version) == [3, 5] && reciprocals.allSatisfy(\.changeset.isEmpty))
    }

    @Test func anAcknowledgementAloneMovesTheCursors() throws {
        var integration = DownloadIntegration(message(uploadedAt: 0), changesets: [])
        expectTrue(integration.base == nil)
        try integration.merge(over: [local(x(3), version: 3, rank: 3, file: 2)], through: 5, using: engine)
        let outcome = integration.outcome(after: stored)
        // 0 means "as before".
        expectEqual(outcome.progress, message(uploadedAt: 2))
        expectTrue(outcome.originTimestamp == 0 && outcome.originFile == 0)
    }

    // MARK: The window

    /// The window of a download that is based on version 2, with a client's history up to version 7.
    private func window(_ versions: UInt64..., size: Int = 10) -> LocalWindow {
        var window = LocalWindow()
        expectEqual(window.begin(after: 2, through: 7), 2)
        for version in versions {
            window.append(local(x(Int64(version)), version: version, rank: version, file: 2), size: size)
        }
        return window
    }

    @Test func theNextDownloadFindsTheWritesAsTheLastOneLeftThem() {
        var window = window(3, 5)
        window.replace([.init(version: 5, changeset: changeset([]))])
        expectEqual(window.begin(after: 4, through: 9), 7)
        expectTrue(window.entries.map(\.version) == [5] && window.entries.allSatisfy(\.changeset.isEmpty))
        window.append(local(x(8), version: 8, rank: 8, file: 2), size: 10)
        expectEqual(window.entries.map(\.version), [5, 8])
        expectEqual(window.begin(after: 4, through: 9), 9)
    }

    /// A download without changesets begins no window: writes before it are still to be read for the next one.
    @Test func writesReadByNoDownloadAreReadByTheNext() {
        var window = window(3)
        window.replace([])
        expectEqual(window.begin(after: 3, through: 12), 7)
    }

    @Test func aBaseBeyondTheWindowEmptiesIt() {
        var window = window(3, 5)
        expectEqual(window.begin(after: 9, through: 12), 9)
        expectTrue(window.entries.isEmpty)
    }

    @Test func aWindowThatIsTooLargeIsReadAnew() {
        var window = window(3, 4, size: LocalWindow.maximumBytes / 2 + 1)
        window.replace([])
        expectTrue(window.entries.isEmpty)
        expectEqual(window.begin(after: 2, through: 7), 2)
    }
}
