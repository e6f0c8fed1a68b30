import Messages
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Gateway

@Suite struct FannedNoticeTests {
    private static func notice(_ authors: FileIdent...) -> FannedNotice {
        let entries = authors.enumerated().map { index, author in
            HistoryEntry(
                serverVersion: ServerVersion(UInt64(index + 1)), clientVersion: ClientVersion(UInt64(index + 10)),
                originFile: author, timestamp: 3,
                changeset: Array(repeating: UInt8(index), count: 900))
        }
        return FannedNotice(
            IntegratedNotice(
                realm: SessionScript.name, generation: 1, follows: 0,
                latest: SaltedServerVersion(version: ServerVersion(UInt64(authors.count)), salt: 77), entries: entries,
                acknowledgements: []))
    }

    @Test func readersAreSentEverythingEncodedBeforehand() throws {
        let view = Self.notice(8, 9).versions.view(for: 2, at: 5)
        expectEqual(view.entries.map(\.serverVersion), [1, 2])
        expectTrue(view.entries.allSatisfy { $0.clientVersion == 5 })
        expectEqual(view.clientVersion, 5)
        expectTrue(view.packed != nil)
    }

    @Test func anAuthorIsSentTheOthersChangesetsOnly() throws {
        let view = Self.notice(8, 2, 9).versions.view(for: 2, at: 5)
        expectEqual(view.entries.map(\.serverVersion), [1, 3])
        // What follows its own changeset was integrated after it.
        expectEqual(view.entries.map(\.clientVersion), [5, 11])
        expectEqual(view.clientVersion, 11)
        expectTrue(view.packed == nil)
    }

    @Test func aPackedDownloadIsTheSameMessage() throws {
        let encoder = MessageEncoder(mode: .partition)
        let view = Self.notice(8, 9).versions.view(for: 2, at: 5)
        let download = Download(
            session: 1,
            progress: SyncProgress(
                download: .init(serverVersion: 2, clientVersion: 5), latest: .init(version: 2, salt: 77),
                upload: .init(clientVersion: 5, serverVersion: 0)),
            detail: .partition(downloadableBytes: 0), entries: view.entries)
        let packed = try #require(view.packed)
        try expectEqual(encoder.encode(download, packed: packed), encoder.encode(.download(download)))
    }
}
