import GRDB
import SyncModel
import TestSupport
import Testing

@testable import DeviceSync

/// A realm's history in its file, without the realm.
@Suite struct HistoryRowsTests {
    /// Runs a test on rows of a history that is empty.
    private static func withRows(_ body: (HistoryRows) throws -> Void) throws {
        try DatabaseQueue().write { database in
            try database.execute(sql: HistoryRows.tables)
            try body(HistoryRows(database))
        }
    }

    private static func write(_ version: ClientVersion, _ bytes: Int = 1) -> DeviceSync.HistoryEntry {
        HistoryEntry(
            version: version, originTimestamp: SyncTimestamp(version.rawValue * 10), originFile: 0, remoteVersion: 0,
            changeset: [UInt8](repeating: 1, count: bytes))
    }

    private static func download(_ version: ClientVersion) -> DeviceSync.HistoryEntry {
        HistoryEntry(version: version, originTimestamp: 99, originFile: 5, remoteVersion: 7, changeset: [])
    }

    @Test func trimmingKeepsWhatADownloadMayBeMergedWith() throws {
        try Self.withRows { rows in
            for entry in [Self.write(2), Self.download(3), Self.write(4), Self.download(5), Self.write(6)] {
                try rows.insert(entry)
            }
            try rows.trim(upTo: 2)
            try expectEqual(rows.entries(from: 0).map(\.version), [4, 5, 6])
            try expectEqual(rows.acknowledgedEntries(after: 0), [Self.write(2)])
            try rows.trim(upTo: 6)
            try expectTrue(rows.entries(from: 0).isEmpty)
            try expectEqual(rows.acknowledgedEntries(after: 2).map(\.version), [4, 6])
        }
    }

    @Test func acknowledgedWritesAreKeptUpToSomeBytes() throws {
        try Self.withRows { rows in
            let half = HistoryRows.keptAcknowledged / 2
            for version in [ClientVersion(2), 3, 4] {
                try rows.insert(Self.write(version, half))
                try rows.trim(upTo: version)
            }
            try expectEqual(rows.acknowledgedEntries(after: 0).map(\.version), [3, 4])
        }
    }

    @Test func mergesReplaceWhatIsMergedNext() throws {
        try Self.withRows { rows in
            try rows.insert(Self.write(2, 3))
            try rows.insert(Self.download(3))
            try rows.setReciprocals([(2, [9])])
            let stored = try rows.localEntries(after: 0, upTo: 3)
            expectEqual(stored.map(\.merged), [[9]])
            expectEqual(stored.map(\.changeset), [[1, 1, 1]])
            try expectEqual(rows.uploadableBytes(after: 0, upTo: 3), 3)
            try expectEqual(rows.lastLocalTimestamp(), 20)
        }
    }

    @Test func aReplacedHistoryForgetsWhatWasAcknowledged() throws {
        try Self.withRows { rows in
            try rows.insert(Self.write(2))
            try rows.trim(upTo: 2)
            try rows.replaceAll(with: [Self.write(4)])
            try expectEqual(rows.entries(from: 0), [Self.write(4)])
            try expectTrue(rows.acknowledgedEntries(after: 0).isEmpty)
        }
    }
}
