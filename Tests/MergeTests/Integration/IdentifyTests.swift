import Merge
import SyncModel
import TestSupport
import Testing

struct IdentifyTests {
    private let recorded = ClientFileProgress(upload: UploadCursor(clientVersion: 4, serverVersion: 8))

    private func code(
        _ download: (ServerVersion, ClientVersion), latest: ServerVersion, isKept: Bool = true
    ) -> ErrorCode? {
        do throws(CursorFault) {
            try recorded.check(
                DownloadCursor(serverVersion: download.0, clientVersion: download.1), latest: latest, current: 20,
                isKept: isKept)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func identsAreCheckedAgainstTheRecord() {
        expectTrue(code((10, 3), latest: 10) == nil)
        expectTrue(code((8, 4), latest: 20) == nil)
        expectEqual(code((11, 3), latest: 10), .badServerVersion)
        expectEqual(code((10, 3), latest: 21), .badServerVersion)
        expectEqual(code((7, 3), latest: 10), .badServerVersion)
        expectEqual(code((10, 5), latest: 10), .badClientVersion)
        expectEqual(code((10, 3), latest: 10, isKept: false), .clientFileExpired)
    }
}
