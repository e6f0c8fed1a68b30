import Merge
import SyncModel
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
        #expect(code((10, 3), latest: 10) == nil)
        #expect(code((8, 4), latest: 20) == nil)
        #expect(code((11, 3), latest: 10) == .badServerVersion)
        #expect(code((10, 3), latest: 21) == .badServerVersion)
        #expect(code((7, 3), latest: 10) == .badServerVersion)
        #expect(code((10, 5), latest: 10) == .badClientVersion)
        #expect(code((10, 3), latest: 10, isKept: false) == .clientFileExpired)
    }
}
