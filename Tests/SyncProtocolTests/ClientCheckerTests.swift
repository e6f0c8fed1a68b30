import SyncModel
import TestSupport
import Testing

@testable import SyncProtocol

/// What a client accepts and when (docs/protocol.md, "What the client checks").
@Suite struct ClientCheckerTests {
    private static let file = ClientFileIdent(ident: 5, salt: 77)
    private static let error = ServerMessage.jsonError(
        session: 1, code: .otherSessionError, body: JSONErrorBody(code: .otherSessionError, message: "later"))
    private static let download = ServerMessage.download(
        Download(
            session: 1,
            progress: SyncProgress(
                download: DownloadCursor(serverVersion: 1), latest: SaltedServerVersion(version: 1, salt: 1)),
            detail: .partition(downloadableBytes: 0)))

    private static func bound(needsIdent: Bool = false) throws -> ClientConnectionChecker {
        var checker = ClientConnectionChecker(mode: .partition)
        try checker.send(.bind(Bind(session: 1, target: "null", needsIdent: needsIdent)))
        return checker
    }

    private static func live() throws -> ClientConnectionChecker {
        var checker = try bound()
        try checker.sendIdent(Ident(session: 1, file: file), upload: UploadCursor(), newestClientVersion: 0)
        return checker
    }

    @Test func theWholeWayOfASession() throws {
        var checker = try Self.bound(needsIdent: true)
        try checker.receive(.ident(session: 1, file: Self.file))
        try checker.sendIdent(Ident(session: 1, file: Self.file), upload: UploadCursor(), newestClientVersion: 0)
        try checker.send(.mark(session: 1, request: 1))
        try checker.receive(Self.download)
        try checker.receive(.mark(session: 1, request: 1))
        try checker.send(.unbind(session: 1))
        try checker.receive(.unbound(session: 1))
        expectTrue(checker.sessions.isEmpty)
    }

    @Test func identComesOnceAndOnlyIfAskedFor() throws {
        var checker = try Self.bound()
        #expect(throws: SyncProtocolError.self) { try checker.receive(.ident(session: 1, file: Self.file)) }
        checker = try Self.bound(needsIdent: true)
        try checker.receive(.ident(session: 1, file: Self.file))
        #expect(throws: SyncProtocolError.self) { try checker.receive(.ident(session: 1, file: Self.file)) }
    }

    @Test func nothingButIdentComesBeforeTheClientsIdent() throws {
        var checker = try Self.bound()
        #expect(throws: SyncProtocolError.self) { try checker.receive(Self.download) }
        #expect(throws: SyncProtocolError.self) { try checker.receive(.mark(session: 1, request: 1)) }
        #expect(throws: SyncProtocolError.self) { try checker.receive(.unbound(session: 1)) }
    }

    @Test func nothingFollowsAnError() throws {
        var checker = try Self.live()
        try checker.receive(Self.error)
        for message in [Self.error, Self.download, .unbound(session: 1)] {
            #expect(throws: SyncProtocolError.self) { try checker.receive(message) }
        }
        try checker.receive(.logMessage(LogMessage(session: 1)))
        #expect(throws: SyncProtocolError.self) { try checker.send(.mark(session: 1, request: 1)) }
        try checker.send(.unbind(session: 1))
        // Bound anew under the same ident.
        try checker.send(.bind(Bind(session: 1, target: "null", needsIdent: false)))
    }

    @Test func messagesCrossingAnUnbindAreTaken() throws {
        var checker = try Self.live()
        try checker.send(.unbind(session: 1))
        try checker.receive(Self.download)
        try checker.receive(Self.error)
        expectTrue(checker.sessions.isEmpty)
    }

    @Test func anIdentThatCrossesAnUnbindIsTaken() throws {
        var checker = try Self.bound(needsIdent: true)
        try checker.send(.unbind(session: 1))
        try checker.receive(.ident(session: 1, file: Self.file))
        try checker.receive(.unbound(session: 1))
    }

    @Test func marksAreAnsweredOnceAndInOrder() throws {
        var checker = try Self.live()
        try checker.send(.mark(session: 1, request: 1))
        try checker.send(.mark(session: 1, request: 3))
        #expect(throws: SyncProtocolError.self) { try checker.receive(.mark(session: 1, request: 4)) }
        try checker.receive(.mark(session: 1, request: 3))
        #expect(throws: SyncProtocolError.self) { try checker.receive(.mark(session: 1, request: 1)) }
    }

    @Test func unknownSessionsMayOnlyBeLoggedAbout() throws {
        var checker = ClientConnectionChecker(mode: .partition)
        try checker.receive(.logMessage(LogMessage(session: 9, level: .info, text: "x")))
        try checker.receive(
            .jsonError(
                session: .connection, code: .connectionClosed,
                body: JSONErrorBody(code: .connectionClosed, message: "drain")))
        #expect(throws: SyncProtocolError.self) { try checker.receive(Self.error) }
    }

    @Test func pongsEchoThePing() throws {
        var checker = ClientConnectionChecker(mode: .partition)
        #expect(throws: SyncProtocolError.self) { try checker.receive(.pong(timestamp: 1)) }
        try checker.send(.ping(timestamp: 5, roundTrip: 0))
        #expect(throws: SyncProtocolError.self) { try checker.send(.ping(timestamp: 6, roundTrip: 0)) }
        #expect(throws: SyncProtocolError.self) { try checker.receive(.pong(timestamp: 6)) }
        try checker.receive(.pong(timestamp: 5))
    }

    @Test func anAcknowledgementBeyondTheClientsHistoryIsRefused() throws {
        var checker = try Self.live()
        let acknowledgement = ServerMessage.download(
            Download(
                session: 1,
                progress: SyncProgress(
                    download: DownloadCursor(serverVersion: 1), latest: SaltedServerVersion(version: 1, salt: 1),
                    upload: UploadCursor(clientVersion: 3)),
                detail: .partition(downloadableBytes: 0)))
        #expect(throws: SyncProtocolError.self) { try checker.receive(acknowledgement) }
        checker.setNewestClientVersion(3, for: 1)
        try checker.receive(acknowledgement)
    }
}
