import Messages
import Storage
import SyncModel
import SyncProtocol
import TestSupport
import Testing
import Views

@testable import Gateway

/// A session in flexible mode against an owner that answers by hand. All that is sent passes the protocol's checker.
@Suite struct FlexibleSessionTests {
    private struct Script {
        var checker = ServerConnectionChecker(mode: .flexible)
        var machine: GatewaySession
        var sent: [ServerMessage] = []
        var pages: [PageRequest] = []
        var followed: [Following] = []
        var published: [ChangesetMessage.Upload] = []
        var now: UInt64 = 1_000
        var identifies: [IdentifyRequest] = []

        init(protocolVersion: Int = 14, home: String? = nil) {
            let context = SessionContext(
                realm: RealmName(flexible: "tasks"), reference: SessionReference(gateway: "g", number: 1), user: "u",
                connection: "c", protocolVersion: protocolVersion, userAgent: "", schemaVersion: 2,
                migratedPartition: "\"said\"",
                limits: .init())
            machine = GatewaySession(
                session: 1, context: context, rights: SessionRights(.readWrite, rulesVersion: 1), roles: "R", home: home
            )
        }

        mutating func client(_ message: ClientMessage, _ event: SessionEvent) throws {
            guard case .accept = checker.receive(message) else { throw ProblemError() }
            try cluster(event)
        }

        mutating func cluster(_ event: SessionEvent) throws {
            let environment = SessionEnvironment(now: now, isCongested: false, isLinkUp: true)
            for action in machine.handle(event, environment) {
                switch action {
                case .send(let message):
                    try checker.send(message)
                    sent.append(message)
                case .page(let request): pages.append(request)
                case .follow(let following): followed.append(following)
                case .identify(let request): identifies.append(request)
                case .publish(let message, _): if let upload = message.upload { published.append(upload) }
                case .recorded(let upload, let locked):
                    checker.identified(1, upload: upload, lockedServerVersion: locked)
                default: break
                }
            }
        }

        /// Binds, and says who it is and which set it has; the owner answers that its data has to come.
        ///
        /// - Parameter isNew: the client asks for its client file.
        mutating func identify(_ ident: Ident, isNew: Bool) throws {
            try client(
                .bind(Bind(session: 1, target: FlexibleTarget().text, needsIdent: isNew)),
                .bind(needsIdent: isNew, app: AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1)))
            try cluster(
                .bound(BoundAnswer(generation: 1, slice: SliceNumber(0), clientFile: isNew ? ident.file : nil)))
            try client(.ident(ident), .ident(ident))
            try cluster(
                .identified(
                    IdentifiedAnswer(
                        generation: 1, upload: UploadCursor(), lockedServerVersion: 0,
                        latest: SaltedServerVersion(version: 5, salt: 7),
                        bootstrap: ident.query?.version.rawValue)))
        }

        /// Answers the latest request for a page.
        mutating func answer(
            _ entries: [HistoryEntry] = [], to version: UInt64, latest: UInt64? = nil,
            _ outcome: BootstrapPart.Outcome? = nil, of set: UInt64 = 0, compensations: [CompensationNotice] = [],
            passes: Bool? = nil, progress: Double = 0.5
        ) throws {
            guard let request = pages.last else { throw ProblemError() }
            var bootstrap = outcome.map { BootstrapPart(version: set, outcome: $0, progress: progress) }
            bootstrap?.passes = passes
            try cluster(
                .page(
                    PageAnswer(
                        generation: 1, after: request.after, entries: entries,
                        download: DownloadCursor(
                            serverVersion: ServerVersion(version), clientVersion: request.after.clientVersion),
                        latest: SaltedServerVersion(version: ServerVersion(latest ?? version), salt: 7),
                        upload: UploadCursor(), downloadableBytes: 0,
                        view: ViewPart(compensations: compensations, bootstrap: bootstrap))))
        }

        /// The versions that errors about undone writes name.
        func undoneAt() -> [ServerVersion?] {
            sent.compactMap { message in
                if case .jsonError(_, .compensatingWrite, let body) = message {
                    .some(body.compensatingWriteServerVersion)
                } else {
                    nil
                }
            }
        }

        /// What was sent since, the batch of DOWNLOADs.
        mutating func take() -> [String] {
            defer { sent = [] }
            return sent.map { message in
                guard case .download(let download) = message, let batch = download.batch else { return message.name }
                return "\(batch.queryVersion)/\(batch.state) of \(download.entries.count) to "
                    + "\(download.progress.download.serverVersion)"
            }
        }
    }

    private struct ProblemError: Error {}

    private func entry(
        _ version: UInt64, by author: FileIdent = .server, from clientVersion: ClientVersion = 0
    ) -> HistoryEntry {
        HistoryEntry(
            serverVersion: ServerVersion(version), clientVersion: clientVersion, originFile: author, timestamp: 1,
            changeset: [1])
    }

    private let undone = CompensationNotice(
        version: 6, clientVersion: 4, updates: [.init(className: "Item", key: [1, 9], reason: "not allowed")])

    /// A session of a new client, with set 0.
    private func begun(protocolVersion: Int = 14) throws -> Script {
        var script = Script(protocolVersion: protocolVersion)
        try script.identify(Ident(session: 1, file: ClientFileIdent(ident: 3, salt: 9), query: .empty), isNew: true)
        expectEqual(script.identifies.last?.view, ViewDefinition(version: 0, queries: "{}", roles: "R"))
        expectEqual(script.pages.last?.bootstrap, BootstrapRequest(version: 0, queries: "{}", roles: "R"))
        try script.answer([entry(5)], to: 5, .last, of: 0)
        expectEqual(script.take(), ["ident", "0/lastInBatch of 1 to 5"])
        return script
    }

    /// The owner may have counted the client as one that has the first set, so its data is asked for until that is known.
    @Test func aSetWhoseAnswerWasLostIsAskedForAgainBeforeTheNextOne() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        expectEqual(script.pages.last?.bootstrap?.version, 1)
        let asked = script.pages.count
        try script.cluster(.requestFailed(GatewayError(.unconfirmed, "")))
        try ask(&script, 2)
        expectTrue(script.pages.count == asked + 1 && script.pages.last?.bootstrap?.version == 1)
        // Nothing is on record of a set that the client has to come up for first, so the next one takes its place.
        try script.answer(to: 5, .behind, of: 1)
        try script.answer(to: 5)
        expectEqual(script.pages.last?.bootstrap?.version, 2)
    }

    /// The client is told as in the recording of a stock client: the error, then the session goes on.
    @Test func aClientOfAnotherSchemaVersionIsToldBeforeItsMark() throws {
        var script = Script()
        let app = AppRecord(
            id: "tasks", syncMode: .flexible, clientSchemas: SchemaVersionRange(oldest: 1, newest: 2),
            schemas: SchemaVersions(versions: [
                SchemaVersion(number: 1), SchemaVersion(number: 2, hiddenClasses: ["Old"]),
            ]),
            createdAt: 1)
        try script.client(
            .bind(Bind(session: 1, target: FlexibleTarget(schemaVersion: 2).text, needsIdent: false)),
            .bind(needsIdent: false, app: app))
        try script.cluster(.bound(BoundAnswer(generation: 1, slice: SliceNumber(0), clientFile: nil)))
        let set = QuerySet(version: 1, text: #"{"Item":"(TRUEPREDICATE)"}"#)
        let ident = Ident(
            session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
            latest: SaltedServerVersion(version: 5, salt: 7), query: set)
        try script.client(.ident(ident), .ident(ident))
        try script.client(.mark(session: 1, request: 1), .mark(1))
        expectEqual(script.identifies.last?.schemaVersion, 2)
        try script.cluster(
            .identified(
                IdentifiedAnswer(
                    generation: 1, upload: UploadCursor(), lockedServerVersion: 0,
                    latest: SaltedServerVersion(version: 5, salt: 7), previousSchemaVersion: 1)))
        try script.answer(to: 5)
        guard case .jsonError(1, let code, let body) = script.sent.first else { throw ProblemError() }
        expectTrue(code == .schemaVersionChanged && body.action == .migrateSchema && body.tryAgain)
        expectEqual(body.previousSchemaVersion, 1)
        expectEqual(script.take(), ["json_error", "1/steadyState of 0 to 5", "mark"])
        expectTrue(script.machine.phase == .live && script.machine.isOutdated)
        // Until it begins anew it is served by the version of its copy.
        expectEqual(script.followed.last?.schemaVersion?.number, 1)
        // What the client names next time in its place says which file that is.
        var files = OutdatedFiles()
        files.note(script.machine)
        expectTrue(files.take(for: 1) == nil && files.take(for: 2) == 3 && files.take(for: 2) == nil)

        var narrower = app
        narrower.clientSchemas = SchemaVersionRange(oldest: 3, newest: 3)
        try script.cluster(.settings(narrower))
        guard case .jsonError(1, .badSchemaVersion, let refusal) = script.sent.last else { throw ProblemError() }
        expectTrue(refusal.action == .applicationBug && !refusal.tryAgain && refusal.message.contains("versions 3"))
    }

    /// A client that must reset hears first of which version its copy is: the fresh one is to be of that.
    @Test func aClientOfAnotherSchemaVersionIsToldBeforeItsReset() throws {
        var script = Script()
        let app = AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1)
        try script.client(
            .bind(Bind(session: 1, target: FlexibleTarget(schemaVersion: 2).text, needsIdent: false)),
            .bind(needsIdent: false, app: app))
        try script.cluster(.bound(BoundAnswer(generation: 1, slice: SliceNumber(0), clientFile: nil)))
        let ident = Ident(
            session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
            latest: SaltedServerVersion(version: 5, salt: 7), query: QuerySet(version: 0, text: "{}"))
        try script.client(.ident(ident), .ident(ident))
        try script.cluster(
            .refused(
                RefusedAnswer(
                    realm: RealmName(flexible: "tasks"), session: SessionReference(gateway: "g", number: 1),
                    code: .badClientFileIdent, action: .clientReset, message: "away for too long", tryAgain: false,
                    clientFile: 3, previousSchemaVersion: 1)))
        let codes = script.sent.compactMap { if case .jsonError(_, let code, _) = $0 { code } else { nil } }
        expectEqual(codes, [.schemaVersionChanged, .badClientFileIdent])
        expectTrue(script.machine.phase == .ended && !script.machine.isOutdated)
    }

    @Test(arguments: [(0, false), (1, true), (2, true), (3, false)])
    func aSchemaVersionThatTheAppDoesNotKnowIsRefused(version: UInt64, isKnown: Bool) throws {
        var app = AppRecord(id: "tasks", syncMode: .flexible, createdAt: 1)
        expectTrue(app.refusal(ofSchema: version) == nil)
        app.clientSchemas = SchemaVersionRange("1-2")
        expectEqual((app.refusal(ofSchema: version) == nil), isKnown)
        let text = app.refusal(ofSchema: version) ?? ""
        let expected =
            version == 0
            ? #""0" is less than oldest schema version "1""# : #""3" is greater than latest schema version "2""#
        let stock = "Client provided invalid schema version: client presented schema version "
        expectTrue(isKnown || text.hasPrefix(stock + expected))
        // A client of an earlier protocol cannot name one.
        expectTrue(app.refusal(ofSchema: nil) == nil)
        expectTrue(
            SchemaVersionRange("2-1") == nil && SchemaVersionRange("a") == nil && SchemaVersionRange("-1") == nil)
        expectEqual(SchemaVersionRange("7")?.description, "7")
    }

    private func ask(_ script: inout Script, _ version: UInt64) throws {
        let set = QuerySet(version: QueryVersion(version), text: "{\"Item\":\"v == \(version)\"}")
        try script.client(.query(Query(session: 1, query: set)), .query(set))
    }

    @Test func aSetComesInBatchesAndIsThenInForce() throws {
        var script = try begun()
        try script.answer(to: 5)
        _ = script.take()
        try ask(&script, 1)
        try script.client(.mark(session: 1, request: 1), .mark(1))
        expectTrue(script.pages.last?.bootstrap?.position == nil && script.pages.last?.bootstrap?.version == 1)
        let position = BootstrapPosition(table: 0, key: [1, 2], done: 10)
        try script.answer([entry(5)], to: 5, .more(position), of: 1)
        expectEqual(script.pages.last?.bootstrap?.position, position)
        try script.answer([entry(8)], to: 8, .last, of: 1)
        expectEqual(script.take(), ["1/moreToCome of 1 to 5", "1/lastInBatch of 1 to 8"])
        // Only then the MARK.
        expectTrue(script.pages.last?.bootstrap == nil && script.pages.last?.isMark == true)
        try script.answer([entry(9)], to: 9)
        expectEqual(script.take(), ["1/steadyState of 1 to 9", "mark"])
    }

    private func upload(_ script: inout Script, _ version: ClientVersion) throws {
        let seen = script.machine.sent?.download.serverVersion ?? 0
        let upload = Upload(
            session: 1, progress: UploadCursor(clientVersion: version, serverVersion: seen), lockedServerVersion: seen,
            entries: [
                UploadedChangeset(clientVersion: version, serverVersion: seen, timestamp: 5, changeset: [1, 2])
            ])
        try script.client(.upload(upload), .upload(upload, bytes: 100))
    }

    /// A write was made under the newest set that was asked for before it.
    @Test func anUploadWaitsForTheDataOfTheSetBeforeIt() throws {
        var script = try begun()
        try script.answer(to: 5)
        _ = script.take()
        try ask(&script, 1)
        try script.client(.mark(session: 1, request: 1), .mark(1))
        try upload(&script, 2)
        try script.answer([entry(5)], to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1)
        try script.answer([entry(8)], to: 8, .last, of: 1)
        expectTrue(script.published.isEmpty && script.machine.unacknowledgedBytes == 100)
        try script.answer([entry(9)], to: 9)
        expectEqual(script.published.map(\.progress.clientVersion), [2])
        expectEqual(
            script.take(), ["1/moreToCome of 1 to 5", "1/lastInBatch of 1 to 8", "1/steadyState of 1 to 9", "mark"])
    }

    @Test func anUploadBehindASetThatIsRefusedIsJudgedByTheOneInForce() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        try upload(&script, 2)
        expectTrue(script.published.isEmpty)
        try script.answer(to: 5, .refused("no such class"), of: 1)
        expectEqual(script.published.count, 1)
    }

    /// A set that something was written under is sent, though a newer one is asked for already; and that one waits until the owner has what was
    /// written.
    @Test func eachSetThatSomethingWasWrittenUnderIsSent() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        try upload(&script, 2)
        try ask(&script, 2)
        try upload(&script, 3)
        try ask(&script, 3)
        try script.answer([entry(5)], to: 5, .last, of: 1)
        expectEqual(script.published.map(\.progress.clientVersion), [2])
        // The page that follows a set's data.
        try script.answer(to: 5)
        expectTrue(script.pages.last?.bootstrap == nil)
        let pages = script.pages.count
        try script.cluster(notice(5, by: 3, group: group, acknowledges: 3, through: 2))
        expectTrue(script.pages.count == pages + 1 && script.pages.last?.bootstrap?.version == 2)
        try script.answer([entry(6, from: 2)], to: 6, .last, of: 2)
        expectEqual(script.published.map(\.progress.clientVersion), [2, 3])
    }

    /// New roles show other objects of the set in force, which a client may write to at once.
    @Test func anUploadWaitsForWhatNewRolesShow() throws {
        var script = Script()
        try script.identify(
            Ident(
                session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
                latest: SaltedServerVersion(version: 5, salt: 7),
                query: QuerySet(version: 2, text: #"{"Item": "owner == 1"}"#)), isNew: false)
        try upload(&script, 2)
        expectTrue(script.published.isEmpty)
        try script.answer([entry(6)], to: 6, .last, of: 2)
        expectEqual(script.published.count, 1)
    }

    /// The upload could be judged by the set before only. The client uploads it again in its next session, behind the set.
    @Test func uploadWaitingForASetIsDroppedOnConnectionLoss() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        try upload(&script, 2)
        try script.cluster(.connectionLost)
        expectTrue(script.published.isEmpty && script.machine.unacknowledgedBytes == 0)
    }

    @Test func theProgressThatAClientIsToldNeverFalls() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        _ = script.take()
        for progress in [0.25, 0.5, 0.4, 0.75] {
            try script.answer(
                [entry(5)], to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1, progress: progress)
        }
        try script.answer([entry(8)], to: 8, .last, of: 1)
        let told = script.sent.compactMap {
            if case .download(let download) = $0 { download.batch?.progress } else { nil }
        }
        expectEqual(told, [0.25, 0.5, 0.5, 0.75, 1])
    }

    @Test func aBootstrapIsNeverEmpty() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        _ = script.take()
        try script.answer(to: 5, .last, of: 1)
        expectEqual(script.take(), ["1/lastInBatch of 1 to 5"])
    }

    @Test func aSetThatIsRefusedLeavesTheOneInForce() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        _ = script.take()
        try script.answer(to: 5, .refused("no such class"), of: 1)
        expectEqual(script.take(), ["query_error"])
        expectTrue(script.pages.last?.bootstrap == nil)
        try script.answer([entry(6)], to: 6)
        expectEqual(script.take(), ["0/steadyState of 1 to 6"])
    }

    /// Clients take no QUERY_ERROR of the set in force, whose data has to come again since its user's roles have changed.
    @Test(arguments: [true, false]) func aSetInForceThatIsRefusedEndsTheSessionWithTheReason(passes: Bool) throws {
        var script = Script()
        try script.identify(
            Ident(
                session: 1, file: ClientFileIdent(ident: 3, salt: 9), download: DownloadCursor(serverVersion: 5),
                latest: SaltedServerVersion(version: 5, salt: 7),
                query: QuerySet(version: 2, text: #"{"Item": "owner == 1"}"#)), isNew: false)
        expectEqual(script.pages.last?.bootstrap?.version, 2)
        try script.answer(to: 5, .refused("why"), of: 2, passes: passes)
        guard case .jsonError(_, let code, let body) = try #require(script.sent.last) else { throw ProblemError() }
        expectTrue(body.message == "why" && body.tryAgain == passes)
        expectTrue(passes ? code == .otherSessionError && body.action == .transient : code == .badQuery)
        guard case .ended = script.machine.phase else { throw ProblemError() }
        expectEqual(script.pages.count, 1)
    }

    @Test func aSetOfWhichNothingWasSentIsSkippedForANewerOne() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        try ask(&script, 2)
        try script.answer(to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 1)
        expectTrue(script.pages.last?.bootstrap?.version == 2 && script.pages.last?.bootstrap?.position == nil)
        try script.answer([entry(5)], to: 5, .more(BootstrapPosition(table: 0, key: [], done: 0)), of: 2)
        // Once something was sent, it is brought to its end.
        try ask(&script, 3)
        try script.answer([entry(5)], to: 5, .last, of: 2)
        expectEqual(script.pages.last?.bootstrap?.version, 3)
    }

    @Test(arguments: [true, false])
    func aSetThatWasSkippedForOneThatIsRefusedTakesItsPlace(isRefusedToo: Bool) throws {
        var script = try begun()
        // While the page of set 0 is under way.
        for version in [1, 2] as [UInt64] { try ask(&script, version) }
        try script.answer(to: 5)
        expectEqual(script.pages.last?.bootstrap?.version, 2)
        try script.answer(to: 5, .refused("no"), of: 2)
        expectEqual(script.take(), ["query_error"])
        expectEqual(script.pages.last?.bootstrap?.version, 1)
        if isRefusedToo {
            try script.answer(to: 5, .refused("neither"), of: 1)
            expectEqual(script.take(), ["query_error"])
            expectTrue(script.pages.last?.bootstrap == nil && script.machine.subscriptions?.isWaiting == false)
        } else {
            try script.answer([entry(5)], to: 5, .last, of: 1)
            expectEqual(script.take(), ["1/lastInBatch of 1 to 5"])
            expectEqual(script.machine.subscriptions?.active.version, 1)
        }
    }

    @Test func aSetThatIsTooLongLeavesTheOneBeforeIt() throws {
        var script = try begun()
        try ask(&script, 1)
        let long = QuerySet(version: 2, text: String(repeating: " ", count: ViewLimits().bytes + 1))
        expectTrue(script.machine.subscriptions?.ask(for: long) != nil)
        try script.answer(to: 5)
        expectEqual(script.pages.last?.bootstrap?.version, 1)
    }

    @Test func aSessionThatIsBehindComesUpFirst() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        _ = script.take()
        try script.answer(to: 5, latest: 7, .behind, of: 1)
        expectTrue(script.pages.last?.bootstrap == nil)
        try script.answer([entry(7)], to: 7)
        expectEqual(script.take(), ["0/steadyState of 1 to 7"])
        expectEqual(script.pages.last?.bootstrap?.version, 1)
    }

    /// A MARK that follows a QUERY is answered after the set's data, also if the session has to come up before.
    @Test func aMarkBehindASetIsAnsweredBehindItsData() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        try script.client(.mark(session: 1, request: 1), .mark(1))
        _ = script.take()
        try script.answer(to: 5, latest: 7, .behind, of: 1)
        expectTrue(script.pages.last?.bootstrap == nil && script.pages.last?.isMark == false)
        try script.answer([entry(7)], to: 7)
        expectEqual(script.take(), ["0/steadyState of 1 to 7"])
        try script.answer([entry(7)], to: 7, .last, of: 1)
        expectEqual(script.take(), ["1/lastInBatch of 1 to 7"])
        expectEqual(script.pages.last?.isMark, true)
        try script.answer(to: 7)
        expectEqual(script.take().last, "mark")
    }

    @Test func undoneWritesAreToldBeforeTheirDownload() throws {
        var script = try begun()
        try script.answer([entry(7)], to: 7, latest: 9, compensations: [undone, undone])
        expectEqual(script.undoneAt(), [7, 7])
        expectEqual(script.take(), ["json_error", "json_error", "0/steadyState of 1 to 7"])
        guard case .live = script.machine.phase else { throw ProblemError() }
        // Clients pass the error on with an entry.
        try script.answer(to: 9, compensations: [undone])
        expectEqual(script.undoneAt(), [9])
        expectEqual(script.take(), ["json_error", "0/steadyState of 1 to 9"])
    }

    /// A client keeps as much of a steady-state DOWNLOAD as it had committed when it was stopped, and all or nothing of a bootstrap.
    @Test func entriesThatCountOnlyTogetherComeAsABootstrap() throws {
        var script = try begun()
        try script.answer(to: 5)
        try ask(&script, 1)
        try script.answer([entry(5)], to: 5, .last, of: 1)
        _ = script.take()
        try script.answer([entry(6, by: 8), entry(7, by: 9)], to: 7, latest: 12)
        try script.answer([entry(8)], to: 8, latest: 12)
        expectEqual(script.take(), ["1/steadyState of 2 to 7", "1/steadyState of 1 to 8"])
        try script.answer([entry(9, by: 8), entry(10)], to: 10, latest: 12)
        expectEqual(script.take(), ["1/lastInBatch of 2 to 10"])
        // What a bootstrap undoes a client can be told of only by an entry in steady state, of no earlier version than its other entries.
        try script.answer([entry(11, by: 8), entry(12)], to: 12, compensations: [undone, undone])
        expectEqual(script.undoneAt(), [12, 12])
        expectEqual(
            script.take(), ["1/lastInBatch of 2 to 12", "json_error", "json_error", "1/steadyState of 1 to 12"])
    }

    /// A client that was away can show how far it is, and keeps what has come if its connection is lost; but what counts only together is one message.
    @Test(arguments: [13, 14]) func muchInSteadyStateComesInSeveralMessages(protocolVersion: Int) throws {
        var script = try begun(protocolVersion: protocolVersion)
        try script.answer(to: 5)
        try ask(&script, 1)
        try script.answer([entry(5)], to: 5, .last, of: 1)
        _ = script.take()
        func large(_ versions: ClosedRange<UInt64>) -> [HistoryEntry] {
            versions.map { version in
                var large = entry(version, by: 8)
                large.changeset = [UInt8](repeating: 7, count: 1 << 20)
                return large
            }
        }
        try script.answer(large(6...9), to: 10, latest: 14)
        let told = script.sent.compactMap {
            if case .download(let download) = $0 { download.batch?.progress } else { nil }
        }
        expectEqual(told, [0.25, 0.5, 0.75, 1])
        expectEqual(
            script.take(),
            [
                "1/steadyState of 1 to 6", "1/steadyState of 1 to 7", "1/steadyState of 1 to 8",
                "1/steadyState of 1 to 10",
            ])
        try script.answer(large(11...13) + [entry(14)], to: 14)
        expectEqual(script.take(), [protocolVersion < 14 ? "1/steadyState of 4 to 14" : "1/lastInBatch of 4 to 14"])
    }

    @Test func anEarlierProtocolHasNoBootstrapOfTheSetInForce() throws {
        var script = try begun(protocolVersion: 13)
        try script.answer(to: 5)
        try ask(&script, 1)
        try script.answer([entry(5)], to: 5, .last, of: 1, compensations: [undone])
        expectEqual(script.undoneAt(), [5])
        expectEqual(script.take(), ["1/lastInBatch of 1 to 5", "json_error", "1/steadyState of 1 to 5"])
        try script.answer([entry(9, by: 8), entry(10)], to: 10)
        expectEqual(script.take(), ["1/steadyState of 2 to 10"])
    }

    @Test func aRefusedIngestIsToldBehindTheDownloadAndTheClientComesAgain() throws {
        let notices = [
            CompensationNotice(
                version: 6, clientVersion: 4, updates: [.init(className: "Event", key: [1, 9], reason: "not allowed")],
                isIngest: true)
        ]
        var script = try begun()
        try script.answer([entry(6)], to: 6, compensations: notices)
        guard case .jsonError(_, let code, let body) = try #require(script.sent.last) else { throw ProblemError() }
        expectTrue(code == .writeNotAllowed && body.action == .warning && body.tryAgain)
        expectTrue(body.rejectedClientVersion == 4 && body.compensatingWriteServerVersion == nil)
        expectEqual(body.rejectedUpdates?.map(\.table), ["Event"])
        expectEqual(script.take(), ["0/steadyState of 1 to 6", "json_error"])
        guard case .ended = script.machine.phase else { throw ProblemError() }
        // A client that does not survive the error is not told.
        script = try begun(protocolVersion: 10)
        try script.answer([entry(6)], to: 6, compensations: notices)
        expectEqual(script.take(), ["0/steadyState of 1 to 6"])
        guard case .live = script.machine.phase else { throw ProblemError() }
    }

    /// A notice of one version; `group` is nil for sessions that have to ask.
    private func notice(
        _ follows: UInt64, by author: FileIdent = 8, group: ViewFan.Outcome.Group?, acknowledges: FileIdent? = nil,
        through clientVersion: ClientVersion = 4
    ) -> SessionEvent {
        let notice = IntegratedNotice(
            realm: RealmName(flexible: "tasks"), generation: 1, follows: ServerVersion(follows),
            latest: SaltedServerVersion(version: ServerVersion(follows + 1), salt: 7),
            entries: [
                HistoryEntry(
                    serverVersion: ServerVersion(follows + 1), clientVersion: clientVersion, originFile: author,
                    timestamp: 1,
                    changeset: [])
            ],
            acknowledgements: acknowledges.map {
                [.init(clientFile: $0, upload: UploadCursor(clientVersion: clientVersion, serverVersion: 5))]
            } ?? [], objects: NoticedObjects(schema: 1, changedSchema: [], before: [[]], now: []))
        return .viewed(ViewedNotice(NoticeContents(notice), for: group))
    }

    private let group = ViewFan.Outcome.Group(sessions: [1], view: .nothing, slots: [])

    @Test func aSessionThatIsUpFollows() throws {
        var script = try begun()
        try script.answer(to: 5)
        expectTrue(script.followed.last?.version == 5 && script.followed.last?.definition.queries == "{}")
        let pages = script.pages.count
        // Nothing between 5 and 9 concerns it: it is told of what does, and stands there.
        try script.cluster(notice(9, group: group))
        expectTrue(script.pages.count == pages && script.machine.progress.download.serverVersion == 10)
        // A notice that others have to tell about is asked for, from where the session stands.
        try script.cluster(notice(12, group: nil))
        expectEqual(script.pages.last?.after.serverVersion, 10)
        try script.answer([entry(13)], to: 13)
        expectEqual(script.take().last, "0/steadyState of 1 to 13")
        expectEqual(script.followed.last?.version, 13)
    }

    @Test func objectsInANoticeCountTowardMailboxBytes() {
        var notice = IntegratedNotice(
            realm: RealmName(flexible: "tasks"), generation: 1, follows: 5,
            latest: SaltedServerVersion(version: 6, salt: 7), entries: [], acknowledgements: [])
        let alone = FannedNotice(notice).bytes
        notice.objects = NoticedObjects(
            schema: 1, changedSchema: [], before: [Array(repeating: 0, count: 5_000)],
            now: Array(repeating: 0, count: 3_000))
        expectTrue(FannedNotice(notice).bytes >= alone + 8_000)
    }

    @Test func noticeDuringAPageIsAskedForAfterIt() throws {
        var script = try begun()
        let pages = script.pages.count
        try script.cluster(notice(6, group: group))
        expectEqual(script.pages.count, pages)
        try script.answer(to: 6)
        expectTrue(script.pages.count == pages + 1 && script.pages.last?.after.serverVersion == 6)
    }

    @Test func versionsHeardBeforeTheSessionFollowedAreAskedFor() throws {
        var script = try begun()
        try script.answer(to: 5)
        let pages = script.pages.count
        try script.cluster(.heardOf(5))
        expectEqual(script.pages.count, pages)
        try script.cluster(.heardOf(6))
        expectEqual(script.pages.count, pages + 1)
    }

    @Test func aClientThatNothingConcernsIsToldNowAndThenWhereItStands() throws {
        var script = try begun()
        try script.answer(to: 5)
        _ = script.take()
        let latest = SaltedServerVersion(version: 50, salt: 7)
        try script.cluster(.stands(latest))
        expectTrue(script.take().isEmpty && script.machine.progress.download.serverVersion == 50)
        script.now += SessionContext.Limits().idleProgress
        try script.cluster(.stands(SaltedServerVersion(version: 60, salt: 7)))
        expectEqual(script.take(), ["0/steadyState of 0 to 60"])
    }

    @Test func anotherRoleEndsTheSession() throws {
        var script = try begun()
        try script.cluster(.judged(SessionRights(.readWrite, rulesVersion: 2), roles: "R"))
        expectTrue(script.take().isEmpty)
        try script.cluster(.judged(SessionRights(.readWrite, rulesVersion: 3), roles: "S"))
        expectEqual(script.take(), ["json_error"])
    }

    /// What the gateway has judged goes to the owner, not what the client says.
    @Test func theOwnerHearsOfNoPartitionThatTheUserMayNotWriteTo() throws {
        for home in [nil, "\"a\""] {
            var script = Script(home: home)
            try script.identify(Ident(session: 1, file: ClientFileIdent(ident: 3, salt: 4)), isNew: true)
            expectEqual(script.identifies.last?.migratedPartition, home)
            // Once the user may not any more, or may again, the session begins anew.
            try script.cluster(.judged(SessionRights(.readWrite, rulesVersion: 2), roles: "R", home: home))
            _ = script.take()
            try script.cluster(
                .judged(SessionRights(.readWrite, rulesVersion: 2), roles: "R", home: home == nil ? "\"a\"" : nil))
            expectEqual(script.take(), ["json_error"])
        }
    }
}
