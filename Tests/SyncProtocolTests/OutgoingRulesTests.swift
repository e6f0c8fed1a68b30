import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// What the encoder refuses to send: stock clients terminate on it, hang, or close the connection.
@Suite struct OutgoingRulesTests {
    private let partition = MessageEncoder(mode: .partition)
    private let flexible = MessageEncoder(mode: .flexible)

    @Test(arguments: [104, 202, 203, 205, 207, 214, 215, 218, 219, 220, 221, 224])
    func codesThatTerminateStockClientsAreRefused(_ number: Int) {
        let code = ErrorCode(number)
        let session: SessionIdent = code.scope == .connection ? 0 : 1
        expectTrue(code.abortsStockClient)
        for encoder in [partition, flexible] {
            #expect(throws: SyncProtocolError.self) {
                try encoder.encode(
                    .jsonError(session: session, code: code, body: JSONErrorBody(code: code, message: "no")))
            }
            #expect(throws: SyncProtocolError.self) {
                try encoder.encode(
                    .error(PlainError(session: session, code: code, tryAgain: false, message: "no")))
            }
        }
    }

    @Test func everyOtherCodeOfTheTableCanBeSentWithItsOwnAction() throws {
        for entry in ErrorCodeTable.entries where !entry.abortsStockClient && !entry.clientOnly {
            var body = JSONErrorBody(code: entry.code, message: entry.name)
            body.partitionQuery = entry.code == .migrateToFLX ? "TRUEPREDICATE" : nil
            body.previousSchemaVersion = entry.code == .schemaVersionChanged ? 1 : nil
            if entry.code == .compensatingWrite {
                body.rejectedUpdates = []
                body.rejectedClientVersion = 1
                body.compensatingWriteServerVersion = 2
            }
            let encoder = entry.code == .migrateToFLX ? partition : flexible
            let session: SessionIdent = entry.scope == .connection ? 0 : 1
            let message = ServerMessage.jsonError(session: session, code: entry.code, body: body)
            let bytes = try encoder.encode(message)
            try expectEqual(ServerMessageParser(mode: encoder.mode).parse(bytes), message)
        }
    }

    @Test(arguments: [(0, 299), (0, 199), (0, 200), (1, 100), (1, 99), (1, 300), (0, 0), (1, 233)])
    func codesOfTheWrongScopeAreRefused(_ session: UInt64, _ number: Int) {
        let message = ServerMessage.jsonError(
            session: SessionIdent(session), code: ErrorCode(number),
            body: JSONErrorBody(message: "x", action: .warning, tryAgain: true))
        #expect(throws: SyncProtocolError.self) { try partition.encode(message) }
    }

    @Test func unknownSessionCodesMayBeSentAndRead() throws {
        let message = ServerMessage.jsonError(
            session: 1, code: ErrorCode(299), body: JSONErrorBody(message: "x", action: .warning, tryAgain: true))
        try expectEqual(ServerMessageParser(mode: .partition).parse(partition.encode(message)), message)
    }

    @Test func errorsWithoutTheirKeysAreRefused() {
        for (encoder, code) in [
            (partition, ErrorCode.migrateToFLX), (flexible, .schemaVersionChanged), (flexible, .compensatingWrite),
        ] {
            #expect(throws: SyncProtocolError.self) {
                try encoder.encode(.jsonError(session: 1, code: code, body: JSONErrorBody(code: code, message: "x")))
            }
        }
        var body = JSONErrorBody(code: .migrateToFLX, message: "x")
        body.partitionQuery = ""
        #expect(throws: SyncProtocolError.self) {
            try partition.encode(.jsonError(session: 1, code: .migrateToFLX, body: body))
        }
    }

    @Test func actionsThatDoNotFitTheirCodeAreRefused() {
        for action: ErrorAction in [.migrateToFLX, .revertToPBS, .migrateSchema, .unknown("Dance")] {
            let body = JSONErrorBody(message: "x", action: action, tryAgain: true)
            #expect(throws: SyncProtocolError.self) {
                try flexible.encode(.jsonError(session: 1, code: .otherSessionError, body: body))
            }
        }
        let body = JSONErrorBody(message: "x", action: .transient, tryAgain: false)
        #expect(throws: SyncProtocolError.self) {
            try flexible.encode(.jsonError(session: 1, code: .otherSessionError, body: body))
        }
    }

    @Test func codesOfTheOtherModeOrALaterVersionAreRefused() {
        var migrate = JSONErrorBody(code: .migrateToFLX, message: "x")
        migrate.partitionQuery = "TRUEPREDICATE"
        #expect(throws: SyncProtocolError.self) {
            try flexible.encode(.jsonError(session: 1, code: .migrateToFLX, body: migrate))
        }
        #expect(throws: SyncProtocolError.self) {
            try partition.encode(
                .jsonError(
                    session: 1, code: .revertToPBS, body: JSONErrorBody(code: .revertToPBS, message: "x")))
        }
        var schema = JSONErrorBody(code: .schemaVersionChanged, message: "x")
        schema.previousSchemaVersion = 1
        #expect(throws: SyncProtocolError.self) {
            try MessageEncoder(mode: .flexible, version: ProtocolVersion(10))
                .encode(.jsonError(session: 1, code: .schemaVersionChanged, body: schema))
        }
        #expect(throws: SyncProtocolError.self) {
            try partition.encode(.queryError(QueryError(session: 1, queryVersion: 1, message: "x")))
        }
    }

    @Test func backoffOutOfRangeIsRefused() {
        for interval: Int64 in [0, -1, Int64(Int32.max) + 1] {
            let body = JSONErrorBody(
                code: .initialSyncNotCompleted, message: "x",
                backoff: BackoffPolicy(intervalSeconds: interval, maxDelaySeconds: 60, multiplier: 2))
            #expect(throws: SyncProtocolError.self) {
                try partition.encode(.jsonError(session: 1, code: .initialSyncNotCompleted, body: body))
            }
        }
    }

    // MARK: DOWNLOAD

    private func download(
        progress: Double = 1, entry: HistoryEntry? = nil, dl: ServerVersion = 5, latest: ServerVersion = 5
    ) -> ServerMessage {
        .download(
            Download(
                session: 1,
                progress: SyncProgress(
                    download: DownloadCursor(serverVersion: dl),
                    latest: SaltedServerVersion(version: latest, salt: 3)),
                detail: .flexible(FlexibleBatch(queryVersion: 1, state: .steadyState, progress: progress)),
                entries: entry.map { [$0] } ?? []))
    }

    @Test(arguments: [-0.1, 1.1, .nan, .infinity, -.infinity])
    func progressOutOfRangeIsRefused(_ progress: Double) {
        #expect(throws: SyncProtocolError.self) { try flexible.encode(download(progress: progress)) }
    }

    @Test func entriesThatTerminateStockClientsAreRefused() {
        for (server, origin) in [(0, 1), (6, 1), (5, 0)] as [(ServerVersion, FileIdent)] {
            let entry = HistoryEntry(
                serverVersion: server, clientVersion: 0, originFile: origin, timestamp: 1, changeset: [1])
            #expect(throws: SyncProtocolError.self) { try flexible.encode(download(entry: entry)) }
        }
        #expect(throws: SyncProtocolError.self) { try flexible.encode(download(dl: 6)) }
        #expect(throws: SyncProtocolError.self) { try partition.encode(download()) }
        let large = HistoryEntry(
            serverVersion: 5, clientVersion: 0, originFile: 1, timestamp: 1,
            changeset: [UInt8](repeating: 0, count: 16 << 20))
        #expect(throws: SyncProtocolError.self) { try flexible.encode(download(entry: large)) }
    }

    @Test(arguments: [
        (10, BatchState.moreToCome, "1 0 0 "), (11, .lastInBatch, "1 1 0 "), (11, .steadyState, "1 1 0 "),
        (12, .steadyState, "1 1 0.25 "), (13, .lastInBatch, "1 1 0.25 "), (14, .steadyState, "1 2 0.25 "),
        (99, .steadyState, "1 2 0.25 "),
    ])
    func downloadsAreWrittenForTheClientsBuild(_ version: Int, _ state: BatchState, _ expected: String) throws {
        let message = ServerMessage.download(
            Download(
                session: 1, progress: SyncProgress(),
                detail: .flexible(FlexibleBatch(queryVersion: 1, state: state, progress: 0.25))))
        let bytes = try MessageEncoder(mode: .flexible, version: ProtocolVersion(version)).encode(message)
        expectEqual(String(decoding: bytes, as: UTF8.self), "download 1 0 0 0 0 0 0 \(expected)0 0 0\n")
    }

    @Test(arguments: [
        (0.0, "0"), (1.0, "1"), (0.5, "0.5"), (0.25, "0.25"), (0.123_456, "0.1235"), (0.000_001, "0.0001"),
        (0.999_999, "0.9999"), (0.7, "0.7"), (0.01, "0.01"),
    ])
    func progressIsAPlainDecimal(_ progress: Double, _ expected: String) {
        expectEqual(MessageEncoder.decimal(progress), expected)
    }

    @Test(arguments: ["2", "-0.1", "nan", "inf", "0x1p-1", "0,5", "", "1e5", "."])
    func progressOutOfRangeIsNotRead(_ text: String) {
        let bytes = Array("download 1 0 0 0 0 0 0 1 2 \(text) 0 0 0\n".utf8)
        #expect(throws: SyncProtocolError.self) { try ServerMessageParser(mode: .flexible).parse(bytes) }
    }

    @Test func otherBatchStatesAreNotRead() {
        let bytes = Array("download 1 0 0 0 0 0 0 1 3 1 0 0 0\n".utf8)
        #expect(throws: SyncProtocolError.self) { try ServerMessageParser(mode: .flexible).parse(bytes) }
    }
}
