import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

@Suite struct ClientFileCheckTests {
    private func file(
        _ state: ClientFileRecord.State = .live, generation: UInt64 = 1,
        upload: UploadCursor = UploadCursor(clientVersion: 4, serverVersion: 7)
    ) -> ClientFileRecord {
        ClientFileRecord(
            realm: RealmID(1), file: ClientFileIdent(ident: 2, salt: 9), user: "u", generation: generation,
            state: state,
            upload: upload, createdAt: 0, lastSeen: 0, connection: "c", protocolVersion: 14, userAgent: "")
    }

    @Test func onlyItsOwnClientMayUseAFile() {
        let check = ClientFileCheck(file: file(), generation: 1)
        expectTrue(check.objection(toClient: ClientFileIdent(ident: 2, salt: 9), of: "u") == nil)
        expectEqual(
            check.objection(toClient: ClientFileIdent(ident: 2, salt: 8), of: "u")?.code, .divergingHistories)
        expectEqual(check.objection(toClient: ClientFileIdent(ident: 2, salt: 9), of: "v")?.code, .userMismatch)
    }

    @Test(arguments: [
        (ClientFileRecord.State.live, UInt64(1), ErrorCode?.none), (.live, 2, .badClientFileIdent),
        (.resetRequired, 1, .badClientFileIdent), (.superseded, 1, .badClientFileIdent),
        (.expired, 1, .clientFileExpired),
    ])
    func aFileThatIsNotLiveHasToReset(_ state: ClientFileRecord.State, _ generation: UInt64, _ code: ErrorCode?) {
        let objection = ClientFileCheck(file: file(state), generation: generation).objection(campaign: "new schema")
        expectEqual(objection?.code, code)
        expectEqual(objection?.isOfFile, (code == nil ? nil : true))
        if state == .resetRequired { expectEqual(objection?.reason, "new schema") }
    }

    private func code(
        _ download: (ServerVersion, ClientVersion), latest: ServerVersion = 9, isKept: Bool = true,
        salt: VersionSalt? = 5
    ) -> ErrorCode? {
        ClientFileCheck(file: file(), generation: 1).objection(
            to: DownloadCursor(serverVersion: download.0, clientVersion: download.1),
            latest: SaltedServerVersion(version: latest, salt: 5), current: 9, isKept: isKept, salt: salt)?.code
    }

    @Test func cursorsHaveToFitWhatIsRecorded() {
        expectTrue(code((7, 4)) == nil)
        expectTrue(code((9, 0)) == nil)
        expectEqual(code((6, 4)), .badServerVersion)
        expectEqual(code((7, 4), isKept: false), .clientFileExpired)
        expectEqual(code((7, 5)), .badClientVersion)
        expectEqual(code((8, 4), latest: 7), .badServerVersion)
        expectEqual(code((7, 4), latest: 10), .badServerVersion)
        expectEqual(code((7, 4), salt: 6), .divergingHistories)
        expectEqual(code((7, 4), salt: nil), .divergingHistories)
    }

    @Test func howFarUploadsCountedIsSaidToAClientThatWasNotPutBack() {
        let check = ClientFileCheck(file: file(), generation: 1)
        expectEqual(check.integrated(at: DownloadCursor(serverVersion: 7, clientVersion: 4)), 4)
        expectTrue(check.integrated(at: DownloadCursor(serverVersion: 6, clientVersion: 4)) == nil)
        expectTrue(check.integrated(at: DownloadCursor(serverVersion: 9, clientVersion: 5)) == nil)
    }
}
