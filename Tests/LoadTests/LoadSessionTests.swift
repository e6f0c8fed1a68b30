import Changesets
import SyncModel
import SyncProtocol
import TestSupport
import Testing

@testable import Load

@Suite struct LoadSessionTests {
    private let server = MessageEncoder(mode: .partition)
    private let file = ClientFileIdent(ident: 7, salt: 9)

    private func read(_ bytes: [UInt8], mode: SyncMode = .partition) throws -> ClientMessage {
        try ClientMessageParser(mode: mode).parse(bytes)
    }

    private func download(
        acknowledging version: UInt64 = 0, server latest: UInt64 = 1, _ entries: [HistoryEntry] = []
    ) throws -> [UInt8] {
        let progress = SyncProgress(
            download: DownloadCursor(serverVersion: ServerVersion(rawValue: latest)),
            latest: SaltedServerVersion(version: ServerVersion(rawValue: latest), salt: 5),
            upload: UploadCursor(clientVersion: ClientVersion(rawValue: version)))
        return try server.encode(
            .download(
                Download(session: 1, progress: progress, detail: .partition(downloadableBytes: 0), entries: entries)))
    }

    /// A session that has its ident and its first DOWNLOAD.
    private func live() throws -> LoadSession {
        var session = LoadSession(partition: "p")
        _ = try session.opened()
        _ = try session.received(try server.encode(.ident(session: 1, file: file)))
        let effects = try session.received(try download())
        expectTrue(effects.becameLive && session.isLive)
        return session
    }

    @Test func aNewClientAsksForItsIdentAndIsLiveWithItsFirstDownload() throws {
        var session = LoadSession(partition: "p")
        guard case .bind(let bind) = try read(try #require(try session.opened().messages.first)) else {
            throw TestFailure("no BIND")
        }
        expectTrue(bind.needsIdent && bind.target == "\"p\"")
        let effects = try session.received(try server.encode(.ident(session: 1, file: file)))
        guard case .ident(let ident) = try read(try #require(effects.messages.first)) else {
            throw TestFailure("no IDENT")
        }
        expectEqual(ident.file, file)
        expectTrue(!session.isLive)
        try expectTrue(session.received(try download()).becameLive)
    }

    @Test func writesAreAcknowledgedByTheProgressOfADownload() throws {
        var session = try live()
        let first = try session.write([1], at: 100, timestamp: 1)
        guard case .upload(let upload) = try read(try #require(first.messages.first)) else {
            throw TestFailure("no UPLOAD")
        }
        expectEqual(upload.entries.map(\.clientVersion), [2])
        _ = try session.write([1], at: 200, timestamp: 2)
        _ = try session.write([1], at: 300, timestamp: 3)
        let effects = try session.received(try download(acknowledging: 3, server: 2))
        expectEqual(effects.acknowledged, [100, 200])
        expectEqual(session.waiting, 1)
    }

    @Test func whatOthersHaveWrittenCountsOnceTheSessionIsLive() throws {
        let changeset = LoadWrites.changeset(
            client: 3, serial: 0, group: "g", objects: 2, bytes: 30, at: 4_711, declares: true)
        let entry = HistoryEntry(
            serverVersion: 2, clientVersion: 0, originFile: 8, timestamp: 1, changeset: changeset)
        var early = LoadSession(partition: "p")
        _ = try early.opened()
        _ = try early.received(try server.encode(.ident(session: 1, file: file)))
        try expectEqual(early.received(try download(server: 2, [entry])).delivered, [])
        var session = try live()
        try expectEqual(session.received(try download(server: 2, [entry])).delivered, [4_711])
    }

    @Test func aClientThatComesBackSendsAgainWhatWasNotAcknowledged() throws {
        var session = try live()
        _ = try session.write([1], at: 100, timestamp: 1)
        session.closed()
        _ = try session.write([2], at: 200, timestamp: 2)
        expectTrue(!session.canWrite)
        let messages = try session.opened().messages.map { try read($0) }
        guard messages.count == 2, case .bind(let bind) = messages[0], case .ident = messages[1] else {
            throw TestFailure("expected BIND and IDENT, found \(messages)")
        }
        expectTrue(!bind.needsIdent)
        let effects = try session.received(try download(server: 1))
        let uploads = try effects.messages.map { try read($0) }
        expectEqual(uploads.count, 2)
        guard case .upload(let last) = uploads[1] else { throw TestFailure("no UPLOAD") }
        expectEqual(last.entries.map(\.changeset), [[2]])
    }

    @Test func aClientThatMustResetIsOverAndOneThatIsToldToTryAgainIsNot() throws {
        var session = try live()
        let again = try session.received(
            try server.encode(
                .jsonError(
                    session: 1, code: ErrorCode(200),
                    body: JSONErrorBody(message: "later", action: .transient, tryAgain: true))))
        expectTrue(again.failure?.endsSession == true && again.failure?.isFinal == false && !session.isOver)
        var other = try live()
        let reset = try other.received(
            try server.encode(
                .jsonError(
                    session: 1, code: .badClientFileIdent,
                    body: JSONErrorBody(message: "reset", action: .clientReset, tryAgain: false))))
        expectTrue(reset.failure?.isFinal == true && other.isOver)
    }

    @Test func aFlexibleClientIsLiveWithTheDataOfItsSubscriptions() throws {
        let server = MessageEncoder(mode: .flexible)
        func download(_ version: UInt64) throws -> [UInt8] {
            try server.encode(
                .download(
                    Download(
                        session: 1, progress: SyncProgress(),
                        detail: .flexible(
                            FlexibleBatch(
                                queryVersion: QueryVersion(rawValue: version), state: .lastInBatch, progress: 1)))))
        }
        var session = LoadSession(subscribingTo: ["LoadItem": "group == 'a'"])
        _ = try session.opened()
        _ = try session.received(try server.encode(.ident(session: 1, file: file)))
        let asked = try session.received(try download(0))
        guard case .query(let query) = try read(try #require(asked.messages.first), mode: .flexible) else {
            throw TestFailure("no QUERY")
        }
        expectTrue(query.query.text.contains("group == 'a'") && !asked.becameLive)
        try expectTrue(session.received(try download(1)).becameLive)
    }
}

private struct TestFailure: Error {
    var words: String
    init(_ words: String) { self.words = words }
}
