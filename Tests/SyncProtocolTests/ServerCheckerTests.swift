import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// What a server accepts and when (docs/protocol.md, "What the server checks" and "Sessions").
@Suite struct ServerCheckerTests {
    private static let file = ClientFileIdent(ident: 5, salt: 77)

    private static func bind(_ session: SessionIdent = 1, needsIdent: Bool = false, path: String = "\"a\"")
        -> ClientMessage
    {
        .bind(Bind(session: session, target: path, needsIdent: needsIdent))
    }

    private static func ident(
        _ session: SessionIdent = 1, file: ClientFileIdent = file, download: DownloadCursor = DownloadCursor(),
        latest: SaltedServerVersion = SaltedServerVersion()
    ) -> ClientMessage {
        .ident(Ident(session: session, file: file, download: download, latest: latest))
    }

    private static func upload(
        _ client: ClientVersion, _ server: ServerVersion, locked: ServerVersion = 0, entries: [UploadedChangeset] = []
    ) -> ClientMessage {
        .upload(
            Upload(
                session: 1, progress: UploadCursor(clientVersion: client, serverVersion: server),
                lockedServerVersion: locked, entries: entries))
    }

    private static func entry(
        _ client: ClientVersion, _ server: ServerVersion
    ) -> UploadedChangeset {
        UploadedChangeset(clientVersion: client, serverVersion: server, timestamp: 1, changeset: [1])
    }

    private static func download(
        _ server: ServerVersion, client: ClientVersion = 0, up: ClientVersion = 0, session: SessionIdent = 1
    ) -> ServerMessage {
        .download(
            Download(
                session: session,
                progress: SyncProgress(
                    download: DownloadCursor(serverVersion: server, clientVersion: client),
                    latest: SaltedServerVersion(version: server, salt: 9), upload: UploadCursor(clientVersion: up)),
                detail: .partition(downloadableBytes: 0)))
    }

    private static let error = ServerMessage.jsonError(
        session: 1, code: .badClientFileIdent, body: JSONErrorBody(code: .badClientFileIdent, message: "gone"))

    /// A session at `dlServerVer` 10, with (4, 8) on record.
    private static func live() throws -> ServerConnectionChecker {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(bind())
        expectEqual(
            checker.receive(
                ident(
                    download: DownloadCursor(serverVersion: 10, clientVersion: 3),
                    latest: SaltedServerVersion(version: 10, salt: 9))), .accept)
        checker.identified(1, upload: UploadCursor(clientVersion: 4, serverVersion: 8))
        return checker
    }

    private static func code(_ verdict: ServerVerdict) -> ErrorCode? {
        if case .fail(let error) = verdict { error.code } else { nil }
    }

    @Test func messagesForAnUnknownSessionAre106() {
        for message in [
            Self.ident(), Self.upload(0, 0), .mark(session: 1, request: 1), .unbind(session: 1),
            .jsonError(ClientJSONError(session: 1, code: .badChangeset, message: "")),
        ] {
            var checker = ServerConnectionChecker(mode: .partition)
            expectEqual(Self.code(checker.receive(message)), .badSessionIdent)
        }
    }

    @Test func bindingABoundSessionIs107() {
        var checker = ServerConnectionChecker(mode: .partition)
        expectEqual(checker.receive(Self.bind()), .accept)
        expectEqual(Self.code(checker.receive(Self.bind())), .reuseOfSessionIdent)
        expectTrue(checker.isClosed)
        expectEqual(checker.receive(.ping(timestamp: 1, roundTrip: 0)), .ignore)
    }

    @Test func identifyingAsABoundFileIs108() {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(Self.bind(1))
        _ = checker.receive(Self.bind(2))
        expectEqual(checker.receive(Self.ident(1)), .accept)
        expectEqual(Self.code(checker.receive(Self.ident(2))), .boundInOtherSession)
    }

    @Test func theSameIdentInAnotherPartitionIsAnotherFile() {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(Self.bind(1))
        _ = checker.receive(Self.bind(2, path: "\"b\""))
        expectEqual(checker.receive(Self.ident(1)), .accept)
        expectEqual(checker.receive(Self.ident(2)), .accept)
    }

    @Test func aFileIsFreeOnceItsSessionHasEnded() throws {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(Self.bind(1))
        expectEqual(checker.receive(Self.ident(1)), .accept)
        try checker.send(Self.error)
        _ = checker.receive(Self.bind(2))
        expectEqual(checker.receive(Self.ident(2)), .accept)
    }

    @Test func messagesOutOfTurnAre109() throws {
        for message in [
            Self.ident(), Self.upload(0, 0), .mark(session: 1, request: 1),
            .jsonError(ClientJSONError(session: 1, code: .badChangeset, message: "")),
        ] {
            var checker = ServerConnectionChecker(mode: .partition)
            _ = checker.receive(Self.bind(needsIdent: true))
            expectEqual(Self.code(checker.receive(message)), .badMessageOrder, "\(message.name)")
        }
        var checker = try Self.live()
        expectEqual(Self.code(checker.receive(Self.ident())), .badMessageOrder)
        checker = try Self.live()
        expectEqual(checker.receive(.unbind(session: 1)), .unbind(answer: true))
        expectEqual(Self.code(checker.receive(.mark(session: 1, request: 1))), .badMessageOrder)
    }

    @Test func anotherIdentThanTheAllocatedIsRefused() throws {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(Self.bind(needsIdent: true))
        try checker.send(.ident(session: 1, file: Self.file))
        expectEqual(
            Self.code(checker.receive(Self.ident(file: ClientFileIdent(ident: 6, salt: 77)))), .badClientFileIdent)
    }

    @Test func anIdentAheadOfItsOwnLatestVersionIs209() {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(Self.bind())
        let verdict = checker.receive(
            Self.ident(
                download: DownloadCursor(serverVersion: 3), latest: SaltedServerVersion(version: 2, salt: 9)))
        expectEqual(Self.code(verdict), .badServerVersion)
    }

    @Test func aPlainUploadIsAccepted() throws {
        var checker = try Self.live()
        expectEqual(
            checker.receive(Self.upload(7, 10, locked: 10, entries: [Self.entry(5, 8), Self.entry(7, 10)])), .accept)
        expectEqual(checker.receive(Self.upload(7, 10, locked: 10)), .accept)
    }

    @Test func acknowledgedUploadsMayComeAgain() throws {
        var checker = try Self.live()
        expectEqual(
            checker.receive(Self.upload(4, 8, locked: 10, entries: [Self.entry(3, 8), Self.entry(4, 8)])), .accept)
    }

    @Test(arguments: [
        // Beyond what was sent.
        (upload(7, 11, locked: 10), ErrorCode.badServerVersion),
        (upload(7, 10, locked: 11), .badServerVersion),
        // Not consistent: has seen server history before its own began.
        (upload(0, 1, locked: 1), .badServerVersion),
        // Against the record (4, 8).
        (upload(4, 9, locked: 10), .badServerVersion),
        (upload(5, 7, locked: 10), .badServerVersion),
        (upload(3, 9, locked: 10), .badServerVersion),
        // Entries.
        (upload(7, 10, locked: 10, entries: [entry(6, 8), entry(5, 8)]), .badClientVersion),
        (upload(7, 10, locked: 10, entries: [entry(5, 8), entry(5, 8)]), .badClientVersion),
        (upload(7, 10, locked: 10, entries: [entry(0, 0)]), .badClientVersion),
        (upload(7, 10, locked: 10, entries: [entry(8, 10)]), .badClientVersion),
        (upload(7, 10, locked: 10, entries: [entry(5, 9), entry(6, 8)]), .badServerVersion),
        (upload(7, 10, locked: 10, entries: [entry(7, 9)]), .badServerVersion),
        (upload(7, 9, locked: 10, entries: [entry(5, 10)]), .badServerVersion),
        (upload(7, 10, locked: 10, entries: [entry(5, 7)]), .badServerVersion),
    ])
    func anUploadThatContradictsItselfEndsTheSession(_ message: ClientMessage, _ expected: ErrorCode) throws {
        var checker = try Self.live()
        let verdict = checker.receive(message)
        expectEqual(Self.code(verdict), expected)
        guard case .fail(let error) = verdict else { return }
        expectEqual(error.scope, .session)
        // The session's error only: the others go on.
        expectTrue(!checker.isClosed)
        expectEqual(checker.receive(.mark(session: 1, request: 1)), .ignore)
    }

    @Test func progressAndLockNeverDecrease() throws {
        var checker = try Self.live()
        expectEqual(checker.receive(Self.upload(7, 10, locked: 9)), .accept)
        expectEqual(Self.code(checker.receive(Self.upload(6, 8, locked: 9))), .badClientVersion)
        checker = try Self.live()
        expectEqual(checker.receive(Self.upload(7, 10, locked: 9)), .accept)
        expectEqual(Self.code(checker.receive(Self.upload(8, 10, locked: 8))), .badServerVersion)
        checker = try Self.live()
        expectEqual(checker.receive(Self.upload(7, 10, locked: 9)), .accept)
        expectEqual(Self.code(checker.receive(Self.upload(7, 9, locked: 9))), .badServerVersion)
    }

    @Test func aDownloadRaisesWhatAnUploadMaySee() throws {
        var checker = try Self.live()
        try checker.send(Self.download(12, client: 4, up: 4))
        expectEqual(checker.receive(Self.upload(7, 12, locked: 12)), .accept)
    }

    @Test func afterAnErrorEverythingButUnbindIsIgnored() throws {
        var checker = try Self.live()
        try checker.send(Self.error)
        for message in [Self.ident(), Self.upload(99, 99), .mark(session: 1, request: 1), Self.bind()] {
            expectEqual(checker.receive(message), .ignore)
        }
        expectEqual(checker.receive(.unbind(session: 1)), .unbind(answer: false))
        #expect(throws: SyncProtocolError.self) { try checker.send(.unbound(session: 1)) }
        // The ident is free for the client's next attempt.
        expectEqual(checker.receive(Self.bind()), .accept)
    }

    @Test func anUnbindThatCrossesAnErrorWins() throws {
        var checker = try Self.live()
        expectEqual(checker.receive(.unbind(session: 1)), .unbind(answer: true))
        #expect(throws: SyncProtocolError.self) { try checker.send(Self.error) }
        try checker.send(Self.download(12, client: 4, up: 4))
        try checker.send(.unbound(session: 1))
        #expect(throws: SyncProtocolError.self) { try checker.send(Self.download(13, client: 4, up: 4)) }
        expectEqual(checker.receive(Self.bind()), .accept)
    }

    @Test func aClientThatFailedIsHeardNoMore() throws {
        var checker = try Self.live()
        expectEqual(
            checker.receive(.jsonError(ClientJSONError(session: 1, code: .badChangeset, message: "x"))), .accept)
        expectEqual(checker.receive(Self.upload(7, 10, locked: 10)), .ignore)
        try checker.send(Self.error)
    }

    @Test func nothingIsSentOutOfTurn() throws {
        var checker = ServerConnectionChecker(mode: .partition)
        #expect(throws: SyncProtocolError.self) { try checker.send(Self.download(1)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(.pong(timestamp: 1)) }
        try checker.send(.logMessage(LogMessage(connectionID: "c")))
        _ = checker.receive(Self.bind())
        #expect(throws: SyncProtocolError.self) { try checker.send(.ident(session: 1, file: Self.file)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(Self.download(1)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(.mark(session: 1, request: 1)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(.unbound(session: 1)) }
        try checker.send(Self.error)
        #expect(throws: SyncProtocolError.self) { try checker.send(Self.error) }
    }

    @Test func marksAreAnsweredOnceAndInOrder() throws {
        var checker = try Self.live()
        for request: RequestIdent in [1, 2, 4] { _ = checker.receive(.mark(session: 1, request: request)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(.mark(session: 1, request: 5)) }
        try checker.send(.mark(session: 1, request: 2))
        #expect(throws: SyncProtocolError.self) { try checker.send(.mark(session: 1, request: 2)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(.mark(session: 1, request: 1)) }
        try checker.send(.mark(session: 1, request: 4))
    }

    @Test func pongsEchoTheLastPing() throws {
        var checker = ServerConnectionChecker(mode: .partition)
        _ = checker.receive(.ping(timestamp: 77, roundTrip: 0))
        #expect(throws: SyncProtocolError.self) { try checker.send(.pong(timestamp: 78)) }
        try checker.send(.pong(timestamp: 77))
        #expect(throws: SyncProtocolError.self) { try checker.send(.pong(timestamp: 77)) }
    }

    @Test func sessionsAreBounded() {
        var limits = ProtocolLimits()
        limits.maxSessions = 2
        var checker = ServerConnectionChecker(mode: .partition, limits: limits)
        expectEqual(checker.receive(Self.bind(1)), .accept)
        expectEqual(checker.receive(Self.bind(2)), .accept)
        guard case .fail(let error) = checker.receive(Self.bind(3)) else {
            Issue.record("a third session")
            return
        }
        expectEqual(error.scope, .connection)
        expectTrue(!error.code.abortsStockClient)
    }

    @Test func compensatingWritesKeepTheSessionAndComeInOrder() throws {
        var checker = ServerConnectionChecker(mode: .flexible)
        _ = checker.receive(Self.bind())
        _ = checker.receive(
            .ident(Ident(session: 1, file: Self.file, query: QuerySet(version: 0, queries: [:]))))
        func compensation(_ version: ServerVersion) -> ServerMessage {
            var body = JSONErrorBody(code: .compensatingWrite, message: "undone")
            body.rejectedUpdates = [RejectedUpdate(table: "Dog", primaryKey: .int(9), reason: "no")]
            body.rejectedClientVersion = 3
            body.compensatingWriteServerVersion = version
            return .jsonError(session: 1, code: .compensatingWrite, body: body)
        }
        try checker.send(compensation(5))
        // Several writes may be undone by one version.
        try checker.send(compensation(6))
        try checker.send(compensation(6))
        #expect(throws: SyncProtocolError.self) { try checker.send(compensation(5)) }
        expectEqual(checker.session(1)?.state, .live)
    }

    @Test func queriesIncreaseAndOnlyPendingOnesFail() throws {
        var checker = ServerConnectionChecker(mode: .flexible)
        _ = checker.receive(Self.bind())
        _ = checker.receive(
            .ident(Ident(session: 1, file: Self.file, query: QuerySet(version: 0, queries: [:]))))
        func query(_ version: QueryVersion) -> ClientMessage {
            .query(Query(session: 1, query: QuerySet(version: version, queries: ["Dog": "(TRUEPREDICATE)"])))
        }
        func failure(_ version: QueryVersion) -> ServerMessage {
            .queryError(QueryError(session: 1, queryVersion: version, message: "no"))
        }
        #expect(throws: SyncProtocolError.self) { try checker.send(failure(1)) }
        expectEqual(checker.receive(query(2)), .accept)
        #expect(throws: SyncProtocolError.self) { try checker.send(failure(0)) }
        #expect(throws: SyncProtocolError.self) { try checker.send(failure(3)) }
        try checker.send(failure(2))
        expectEqual(Self.code(checker.receive(query(2))), .badMessageOrder)
    }
}
